// SPDX-License-Identifier: Apache-2.0
//
// SipHash-2-4 (Aumasson and Bernstein, 2012): computes a check value of a short text, which cannot be computed without
// the key. No state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace marline::offload::wire {

namespace siphash_detail {

struct State {
  uint64_t v0, v1, v2, v3;

  static uint64_t turn(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

  void round() {
    v0 += v1, v1 = turn(v1, 13) ^ v0, v0 = turn(v0, 32);
    v2 += v3, v3 = turn(v3, 16) ^ v2;
    v0 += v3, v3 = turn(v3, 21) ^ v0;
    v2 += v1, v1 = turn(v1, 17) ^ v2, v2 = turn(v2, 32);
  }

  void absorb(uint64_t word) {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

}  // namespace siphash_detail

[[nodiscard]] inline uint64_t siphash(const uint64_t key[2], const void* bytes, size_t count) {
  siphash_detail::State state = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
                                 key[1] ^ 0x7465646279746573};
  const char* at = static_cast<const char*>(bytes);
  uint64_t word = 0;
  for (size_t left = count; left >= 8; left -= 8, at += 8) {
    std::memcpy(&word, at, 8);
    state.absorb(word);
  }
  word = 0;
  std::memcpy(&word, at, count % 8);
  state.absorb(word | uint64_t{count} << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace marline::offload::wire
