// SPDX-License-Identifier: Apache-2.0
//
// Operations on marks of the bytes of a replica's block: the mark is 1 for each marked byte and 0 for any other. They
// use vectors explicitly, as compilers do not vectorise loops over a part of a block at -O2.
#pragma once

#include <cstdint>
#include <cstring>

namespace marline::offload::device {

using MarkVector = uint8_t __attribute__((vector_size(16)));

inline MarkVector load_marks(const void* from) {
  MarkVector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// Marks the bytes in which `a` and `b` differ.
inline void mark_different(const char* a, const char* b, uint32_t bytes, uint8_t* marks) {
  uint32_t i = 0;
  for (; i + sizeof(MarkVector) <= bytes; i += sizeof(MarkVector)) {
    MarkVector differs = reinterpret_cast<MarkVector>(load_marks(a + i) != load_marks(b + i)) & 1;
    std::memcpy(marks + i, &differs, sizeof differs);
  }
  for (; i < bytes; ++i) marks[i] = a[i] != b[i] ? 1 : 0;
}

// Marks each byte position where `first` has the value `a` and `second` has the value `b`, and writes `value` to `to`
// at these positions.
template <uint64_t kBytes>
void mark_both(const uint8_t (&first)[kBytes], uint32_t a, const uint8_t (&second)[kBytes], uint32_t b,
               uint8_t (&to)[kBytes], uint32_t value, uint8_t (&marks)[kBytes]) {
  for (uint64_t i = 0; i < kBytes; i += sizeof(MarkVector)) {
    auto are_both = reinterpret_cast<MarkVector>((load_marks(first + i) == static_cast<uint8_t>(a)) &
                                                 (load_marks(second + i) == static_cast<uint8_t>(b)));
    MarkVector written = (load_marks(to + i) & ~are_both) | (are_both & static_cast<uint8_t>(value));
    MarkVector marked = load_marks(marks + i) | (are_both & 1);
    std::memcpy(to + i, &written, sizeof written);
    std::memcpy(marks + i, &marked, sizeof marked);
  }
}

// Copies the marked bytes from `from` to `to`. It writes all bytes of `to`; bytes that are not marked get their old
// value. Returns whether a byte has changed.
inline bool put_marked(void* to, const void* from, const uint8_t* marks, uint32_t bytes) {
  auto* old = static_cast<uint8_t*>(to);
  auto* wanted = static_cast<const uint8_t*>(from);
  MarkVector changes = {};
  uint32_t i = 0;
  for (; i + sizeof changes <= bytes; i += sizeof changes) {
    auto is_marked = reinterpret_cast<MarkVector>(load_marks(marks + i) != 0);
    MarkVector before = load_marks(old + i), after = (load_marks(wanted + i) & is_marked) | (before & ~is_marked);
    changes |= before ^ after;
    std::memcpy(old + i, &after, sizeof after);
  }
  uint64_t words[sizeof changes / sizeof(uint64_t)];
  std::memcpy(words, &changes, sizeof words);
  bool has_changed = (words[0] | words[1]) != 0;
  for (; i < bytes; ++i) {
    if (marks[i] == 0 || old[i] == wanted[i]) continue;
    old[i] = wanted[i];
    has_changed = true;
  }
  return has_changed;
}

// Copies the marked bytes where they differ, and writes no other byte: other threads may write the bytes that are not
// marked, and a constant may lie in memory that cannot be written.
inline void put_where_different(char* to, const char* from, const uint8_t* marks, uint32_t bytes) {
  constexpr uint32_t kWord = sizeof(uint64_t);
  constexpr uint64_t kAll = 0x0101010101010101;
  uint32_t i = 0;
  for (; i + kWord <= bytes; i += kWord) {
    // In `left`, the lowest bit of a byte is 1 if the byte at its position is marked.
    uint64_t left;
    std::memcpy(&left, marks + i, kWord);
    if (left == kAll) {
      if (std::memcmp(to + i, from + i, kWord) != 0) std::memcpy(to + i, from + i, kWord);
      continue;
    }
    for (; left != 0; left &= left - 1) {
      uint32_t at = i + static_cast<uint32_t>(__builtin_ctzll(left)) / 8;
      if (to[at] != from[at]) to[at] = from[at];
    }
  }
  for (; i < bytes; ++i) {
    if (marks[i] != 0 && to[i] != from[i]) to[i] = from[i];
  }
}

}  // namespace marline::offload::device
