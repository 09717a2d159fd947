// SPDX-License-Identifier: Apache-2.0
//
// Finds unordered pairs of constructs and describes them.
#include "cluster/map_order.hpp"

#include <cstdio>

namespace marline::offload::cluster {

MapConflict MapOrder::refuse(TaskNumber task, const MapItem& item, const MapChange& with) {
  const Mapping* mapping = mappings_.find(with.range.buffer);
  TaskNumber other = mapping != nullptr ? mapping->made_by : 0;
  return {MapConflictKind::kPartlyMapped, task, other, item.address, item.bytes};
}

void describe_conflict(const MapConflict& conflict, char* text, size_t capacity) {
  const char *what = "", *advice = "order one behind the other by depend or taskwait";
  switch (conflict.kind) {
    case MapConflictKind::kNone: break;
    case MapConflictKind::kUnorderedUse: what = "uses what is mapped by"; break;
    case MapConflictKind::kUnorderedEnd: what = "ends a mapping that is used by"; break;
    case MapConflictKind::kUnorderedCopy: what = "copies what is also copied by"; break;
    case MapConflictKind::kPartlyMapped:
      what = "maps what is in part mapped by";
      advice = "map the whole first, or the mapped part alone";
      break;
  }
  std::snprintf(text, capacity, "task %lu %s task %lu (%lu bytes at %#lx): %s", conflict.task, what, conflict.other,
                conflict.bytes, conflict.address, advice);
}

}  // namespace marline::offload::cluster
