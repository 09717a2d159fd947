// SPDX-License-Identifier: Apache-2.0
//
// Calls a kernel with its words and enough zeros to make 6, 24, 96 or kMostArguments parameters.
#include "device/processor/call_kernel.hpp"

#include <cstring>
#include <utility>

namespace marline::offload::device {

namespace {

template <size_t>
using Word = uint64_t;

template <size_t... kIndex>
void call(uint64_t code, const uint64_t* words, std::index_sequence<kIndex...>) {
  reinterpret_cast<void (*)(Word<kIndex>...)>(code)(words[kIndex]...);
}

// Passes kWords parameters: the words, and zeros after them.
template <size_t kWords>
void call_with(uint64_t code, const uint64_t* words, uint32_t count) {
  uint64_t padded[kWords] = {};
  if (count != 0) std::memcpy(padded, words, count * sizeof *words);
  call(code, padded, std::make_index_sequence<kWords>());
}

void call_with_pointers(uint64_t code, const uint64_t* words, uint32_t count) {
  const uint64_t* pointers[kMostArguments];
  for (uint32_t i = 0; i < count; ++i) pointers[i] = words + i;
  reinterpret_cast<void (*)(const uint64_t**)>(code)(pointers);
}

}  // namespace

void call_kernel(uint64_t code, const uint64_t* words, uint32_t count) {
  if ((code & kByPointers) != 0) return call_with_pointers(code & ~kByPointers, words, count);
  if (count <= 6) return call_with<6>(code, words, count);
  if (count <= 24) return call_with<24>(code, words, count);
  if (count <= 96) return call_with<96>(code, words, count);
  call_with<kMostArguments>(code, words, count);
}

}  // namespace marline::offload::device
