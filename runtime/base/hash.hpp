// SPDX-License-Identifier: Apache-2.0
//
// A mixing function for addresses and counters.
#pragma once

#include <cstdint>

namespace marline {

// A bijection of 64-bit words in which every input bit changes every output bit with probability close to 1/2, so that
// strides of any size spread over all buckets. It is the 64-bit finaliser of MurmurHash3 (Appleby) with the constants
// "Mix13" that Stafford found by search (2011) and splitmix64 uses.
inline constexpr uint64_t mix64(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  x ^= x >> 31;
  return x;
}

}  // namespace marline
