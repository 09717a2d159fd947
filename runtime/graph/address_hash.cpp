// SPDX-License-Identifier: Apache-2.0
//
// The hash functions of other runtimes, from addresses to slots of a dependence table.
#include "graph/address_hash.hpp"

namespace marline {

namespace {

struct Triple {
  uint32_t a, b, c;
};

// The mixing step of Jenkins' "lookup2" (Dr. Dobb's Journal, September 1997): reversible, on three words.
Triple mix(Triple t) {
  auto round = [&t](int first, int second, int third) {
    t.a = (t.a - t.b - t.c) ^ (t.c >> first);
    t.b = (t.b - t.c - t.a) ^ (t.a << second);
    t.c = (t.c - t.a - t.b) ^ (t.b >> third);
  };
  round(13, 8, 13);
  round(12, 16, 5);
  round(3, 10, 15);
  return t;
}

// Hashes a key of eight bytes: one final block, with the key's length in `c`. The seed is uthash's.
uint32_t lookup2(uint64_t key) {
  constexpr uint32_t kGolden = 0x9e3779b9u, kSeed = 0xfeedbeefu, kBytes = 8;
  return mix({kGolden + static_cast<uint32_t>(key), kGolden + static_cast<uint32_t>(key >> 32), kSeed + kBytes}).c;
}

}  // namespace

uint64_t hash_as_others_do(HashFunction function, uint64_t address) {
  switch (function) {
    case HashFunction::kXor62: return (address >> 6) ^ (address >> 2);
    case HashFunction::kXor032: return address ^ (address >> 32);
    case HashFunction::kDiv8: return address >> 3;
    case HashFunction::kLookup2: return lookup2(address);
    case HashFunction::kMix: break;
  }
  return mix64(address);
}

}  // namespace marline
