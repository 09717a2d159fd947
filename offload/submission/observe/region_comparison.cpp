// SPDX-License-Identifier: Apache-2.0
//
// Compares a target region with a known one.
#include "submission/observe/region_comparison.hpp"

#include <cstring>

namespace marline::offload::submission {

using namespace map_type;

// Changed values are reported if they are arguments. A changed value that is not an argument would not reach the
// kernel, so the region counts as another one.
void RegionComparison::compare(const KernelInvocation& invocation, int64_t device, const Items& now) {
  is_same = invocation == known.invocation && device == known.device && static_cast<size_t>(now.count) == known.count;
  uint32_t word = 0;
  for (size_t i = 0; i < known.count && is_same; ++i) {
    KnownItem& item = items[i];
    bool is_literal = (item.type & kLiteral) != 0, is_argument = (item.type & kParameter) != 0;
    bool is_own = is_own_block(item.type);
    is_same =
        now.types[i] == item.type && now.sizes[i] == item.size && (is_literal || is_own || now.begins[i] == item.begin);
    if (is_same && is_own) {
      is_same = std::memcmp(now.begins[i], own_bytes.begin() + item.bytes_at, static_cast<size_t>(item.size)) == 0;
    }
    if (is_same && now.bases[i] != item.base) {
      is_same = is_literal && is_argument;
      changed.push({word, reinterpret_cast<uint64_t>(now.bases[i])});
      item.base = now.bases[i];
    }
    // The descriptor's bounds may have changed.
    bool is_descriptor = (item.type & (kDescriptor | kAttach)) == kDescriptor;
    if (is_same && is_descriptor) {
      is_same = descriptors.has(reinterpret_cast<uintptr_t>(item.begin), static_cast<size_t>(item.size));
    }
    word += is_argument ? 1 : 0;
  }
}

}  // namespace marline::offload::submission
