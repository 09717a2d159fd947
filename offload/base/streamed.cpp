// SPDX-License-Identifier: Apache-2.0
//
// Copies large blocks with stores that bypass the caches, where the processor has such stores (SSE2).
#include "base/streamed.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace marline::offload {

namespace {

constexpr size_t kCaches = 4 << 20;  // about the size of all caches of a core

#ifdef __SSE2__
void stream(char* to, const char* from, size_t bytes) {
  constexpr size_t kLine = 64, kWord = sizeof(__m128i);
  size_t at = std::min(bytes, -reinterpret_cast<uintptr_t>(to) % kLine);
  std::memcpy(to, from, at);
  for (; bytes - at >= kLine; at += kLine) {
    __m128i words[kLine / kWord];
    std::memcpy(words, from + at, kLine);
    auto* line = reinterpret_cast<__m128i*>(to + at);
    for (size_t i = 0; i < kLine / kWord; ++i) _mm_stream_si128(line + i, words[i]);
  }
  std::memcpy(to + at, from + at, bytes - at);
  _mm_sfence();  // before the write by which another thread learns of the bytes
}
#else
void stream(char* to, const char* from, size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace

void copy_streamed(char* to, const char* from, size_t bytes, size_t whole) {
  if (whole > kCaches) return stream(to, from, bytes);
  std::memcpy(to, from, bytes);
}

}  // namespace marline::offload
