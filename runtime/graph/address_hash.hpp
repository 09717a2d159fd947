// SPDX-License-Identifier: Apache-2.0
//
// Hash functions from addresses to slots of a dependence table. The default, `mix`, distributes addresses well whatever
// their stride is. The other functions are copied from other runtimes, for comparison (studies/hashing.yaml). Only the
// low bits are used, because the number of slots is a power of two.
#pragma once

#include "base/hash.hpp"
#include "config/options.hpp"

#include <cstdint>

namespace marline {

// For the functions that are not the default.
uint64_t hash_as_others_do(HashFunction function, uint64_t address);

inline uint64_t hash_address(HashFunction function, const void* address) {
  auto value = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(address));
  if (function != HashFunction::kMix) [[unlikely]] {
    return hash_as_others_do(function, value);
  }
  return mix64(value);
}

}  // namespace marline
