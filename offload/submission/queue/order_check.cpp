// SPDX-License-Identifier: Apache-2.0
//
// For a device that checks programs: when a construct is submitted, finds other deferred constructs that use its data
// although no dependence orders the two. The data environment counts references in the order of the constructs'
// creation, so each run has the same result here. A runtime that counts references when the constructs run may have
// another result in each run.
#include "device/contract/unordered.hpp"
#include "submission/queue/submission.hpp"
#include "data/data_environment.hpp"

namespace marline::offload::submission {

using namespace data;
using namespace device;

namespace {

// A construct uses data that another task uses, too, and no dependence orders the two. `use` says how they conflict.
struct Unordered {
  UnorderedUse use;
  uint64_t task;
  uintptr_t begin;  // host address of the data
  size_t bytes;
};

bool is_unordered(const SubmissionOrder& order, uint64_t task) { return task != order.task && !order.is_after(task); }

// Appends at most two records for each item. Transient maps of regions are left out: two regions with transient maps of
// the same data have the same result in any order.
void list_unordered(DataEnvironment& environment, const Items& items, bool exits, const SubmissionOrder& order,
                    List<Unordered, 8>& found) {
  LockedTable table(environment);
  for (int32_t i = 0; i < items.count; ++i) {
    const MapEntry* entry = has_data(items.types[i]) ? table->find_item(items, i) : nullptr;
    if (entry == nullptr || (entry->is_transient() && items.of_region)) continue;
    const InFlight* in_flight = entry->is_transient() ? nullptr : entry->in_flight;
    if (in_flight != nullptr && in_flight->is_sent && is_unordered(order, in_flight->task)) {
      found.push({in_flight->leaves ? UnorderedUse::kOfGone : UnorderedUse::kOfMapped, in_flight->task, entry->begin,
                  entry->bytes()});
    }
    // Whether this construct subtracts the last reference that is not a region's.
    bool is_last = exits && entry->counts.ends_with(items.types[i]);
    if (!entry->is_transient() && !is_last) continue;
    for (uint64_t user : entry->counts.users()) {
      if (!is_unordered(order, user)) continue;
      found.push({exits ? UnorderedUse::kEnds : UnorderedUse::kOfMapped, user, entry->begin, entry->bytes()});
      break;
    }
  }
}

UnorderedPair::Construct construct_of(const CapturedTask& task) { return {task.kind, task.kernel, task.place}; }

}  // namespace

void check_order(const SubmittedTask* one, const SubmissionOrder& order) {
  const EarlySubmission& kind = *one->device->kind->early;
  if (!kind.checks_order(one->device)) return;
  List<Unordered, 8> all;
  list_unordered(*one->device->mapping, one->task->items, one->task->kind == ConstructKind::kExitData, order, all);
  for (const Unordered& found : all) {
    UnorderedPair pair = {found.use, construct_of(*one->task), {}, found.begin, found.bytes};
    {
      Guard guard(g_submission.lock);
      const SubmittedTask* other = g_submission.claimed.find(found.task);
      if (other == nullptr) continue;  // it has ended meanwhile
      pair.other = construct_of(*other->task);
    }
    kind.unordered(pair);
  }
}

}  // namespace marline::offload::submission
