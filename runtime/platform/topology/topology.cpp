// SPDX-License-Identifier: Apache-2.0
//
// The memory of a topology's lists.
#include "platform/topology/topology.hpp"

#include <cstdlib>

namespace marline {

bool MaskList::append(const CpuMask& mask) {
  if ((count & (count - 1)) == 0) {  // full at every power of two: the capacity needs no field
    const size_t capacity = count == 0 ? 1 : static_cast<size_t>(count) * 2;
    auto* grown = static_cast<CpuMask*>(realloc(masks, capacity * sizeof(CpuMask)));
    if (grown == nullptr) return false;
    masks = grown;
  }
  masks[count++] = mask;
  return true;
}

void MaskList::remove(int index) {
  // Never shrinks the memory. append may then call realloc once more than needed, which does no harm.
  for (int i = index + 1; i < count; ++i) masks[i - 1] = masks[i];
  --count;
}

void MaskList::free_all() {
  free(masks);
  masks = nullptr;
  count = 0;
}

void topology_free(Topology& topology) {
  for (MaskList& list : topology.level) list.free_all();
  topology.groups.free_all();
}

}  // namespace marline
