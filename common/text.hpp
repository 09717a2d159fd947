// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing the values of environment variables: a cursor over a string, and a bounded text under
// construction. No allocation. An object belongs to one thread.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace marline {

// Reads a value from left to right. White space is allowed around every item, as in the OpenMP specification, and words
// are compared without regard to case. An accept_ function that finds its item moves the cursor past it; otherwise it
// leaves the cursor and returns false.
class Cursor {
 public:
  explicit Cursor(const char* text) : at_(text) { skip_space(); }

  [[nodiscard]] bool at_end() const { return *at_ == '\0'; }
  [[nodiscard]] const char* rest() const { return at_; }

  bool accept(char wanted) {
    if (*at_ != wanted) return false;
    ++at_;
    skip_space();
    return true;
  }

  // Accepts a whole word: `close` is not found in `closer`.
  bool accept_word(const char* wanted) {
    const char* here = at_;
    for (; *wanted != '\0'; ++wanted, ++here) {
      if (lower(*here) != *wanted) return false;
    }
    if (in_word(*here)) return false;
    at_ = here;
    skip_space();
    return true;
  }

  // Accepts one of the words; returns its index, or -1.
  template <size_t N>
  int accept_one_of(const char* const (&words)[N]) {
    for (size_t i = 0; i < N; ++i) {
      if (accept_word(words[i])) return static_cast<int>(i);
    }
    return -1;
  }

  // Accepts a decimal number from `low` to `high`, with an optional sign.
  bool accept_number(int64_t low, int64_t high, int64_t& result);

  // Accepts an unsigned number, decimal or 0x hexadecimal.
  bool accept_unsigned(uint64_t& result);

  // Accepts a number as strtod reads it.
  bool accept_real(double& result) {
    char* end;
    result = strtod(at_, &end);
    const bool found = end != at_;
    at_ = end;
    skip_space();
    return found;
  }

  // mark returns the cursor's position, and reset goes back to it.
  [[nodiscard]] const char* mark() const { return at_; }
  void reset(const char* mark) { at_ = mark; }

 private:
  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  static bool in_word(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
  void skip_space() {
    while (*at_ == ' ' || (*at_ >= '\t' && *at_ <= '\r')) ++at_;
  }

  const char* at_;
};

// Appends to a caller's buffer; text that does not fit is cut off. The text always ends with a null byte.
class Text {
 public:
  Text(char* buffer, size_t size) : buffer_(buffer), size_(size) { buffer_[0] = '\0'; }

  void add(const char* format, ...) __attribute__((format(printf, 2, 3)));
  [[nodiscard]] size_t length() const { return length_; }
  [[nodiscard]] const char* c_str() const { return buffer_; }

 private:
  char* buffer_;
  size_t size_;
  size_t length_ = 0;
};

// Options are read once. Without `cold`, GCC 12 inlines less in the hot functions of the runtime: 5 instructions more
// per task.
[[gnu::cold]] inline bool Cursor::accept_number(int64_t low, int64_t high, int64_t& result) {
  const char* here = at_;
  const bool negative = *here == '-';
  if (*here == '-' || *here == '+') ++here;
  if (*here < '0' || *here > '9') return false;
  int64_t value = 0;
  for (; *here >= '0' && *here <= '9'; ++here) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value)) return false;
    const int64_t digit = *here - '0';
    if (__builtin_add_overflow(value, negative ? -digit : digit, &value)) return false;
  }
  if (value < low || value > high) return false;
  result = value;
  at_ = here;
  skip_space();
  return true;
}

[[gnu::cold]] inline bool Cursor::accept_unsigned(uint64_t& result) {
  const char* here = at_;
  const bool hex = here[0] == '0' && lower(here[1]) == 'x';
  if (hex) here += 2;
  const uint64_t base = hex ? 16 : 10;
  uint64_t value = 0;
  int digits = 0;
  for (;; ++here, ++digits) {
    uint64_t digit;
    if (*here >= '0' && *here <= '9') {
      digit = static_cast<uint64_t>(*here - '0');
    } else if (hex && lower(*here) >= 'a' && lower(*here) <= 'f') {
      digit = static_cast<uint64_t>(lower(*here) - 'a') + 10;
    } else {
      break;
    }
    if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)) return false;
  }
  if (digits == 0) return false;
  result = value;
  at_ = here;
  skip_space();
  return true;
}

[[gnu::cold]] inline void Text::add(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t room = size_ - length_;
  const int wanted = vsnprintf(buffer_ + length_, room, format, arguments);
  va_end(arguments);
  if (wanted > 0) length_ += static_cast<size_t>(wanted) < room ? static_cast<size_t>(wanted) : room - 1;
}

}  // namespace marline
