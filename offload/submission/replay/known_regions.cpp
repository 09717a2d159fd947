// SPDX-License-Identifier: Apache-2.0
//
// Keeps the regions of an iteration, and compares later regions with them.
#include "submission/replay/known_regions.hpp"

#include "submission/observe/captured_task.hpp"
#include "submission/observe/dry_run.hpp"

namespace marline::offload::submission {

using namespace items;

using namespace map_type;

bool KnownRegions::add(const CapturedTask& task) {
  KnownRegion known = {task.entry, task.node, task, task.device, items_.count(), static_cast<size_t>(task.items.count)};
  for (int32_t i = 0; i < task.items.count; ++i) {
    uint64_t type = task.items.types[i];
    if ((type & (kPrivate | kOwn)) == kPrivate) return false;
    items_.push({task.items.bases[i], task.items.begins[i], task.items.sizes[i], type, own_bytes_.count()});
    for (int64_t at = 0; at < task.items.sizes[i] && is_own_block(type); ++at) {
      own_bytes_.push(static_cast<const char*>(task.items.begins[i])[at]);
    }
    if ((task.items.types[i] & (kDescriptor | kAttach)) != kDescriptor) continue;
    descriptors_.note(reinterpret_cast<uintptr_t>(task.items.begins[i]), static_cast<size_t>(task.items.sizes[i]));
  }
  regions_.push(known);
  return true;
}

bool KnownRegions::is_same(uint64_t step, const marline_target_task_t& reported, List<ChangedWord>& changed) {
  if (step >= regions_.count()) return false;
  const KnownRegion& known = regions_[step];
  if (entry_of(reported) != known.entry || (reported.node != 0 && reported.node != known.node)) return false;
  RegionComparison comparison = {known, &items_[known.first], descriptors_, own_bytes_, changed};
  if (reported.form == MARLINE_TARGET_ENTRY) {
    compare_dry(reported, comparison);
  } else if (reported.form == MARLINE_TARGET_REGION) {
    CapturedTask* task = capture_maps(reported);
    if (task == nullptr) return false;
    comparison.compare(*task, task->device, task->items);
    free_captured(task);
  }
  return comparison.is_same;
}

}  // namespace marline::offload::submission
