// SPDX-License-Identifier: Apache-2.0
//
// Finds deferred constructs that use each other's data without an order, when one of them is submitted, for a device
// that checks programs.
#include "device/contract/unordered.hpp"
#include "submission/queue/submission.hpp"
#include "data/data_environment.hpp"
#include "data/order/submission_order.hpp"

namespace marline::offload::submission {

using namespace data;
using namespace device;

namespace {

UnorderedPair::Construct construct_of(const CapturedTask& task) { return {task.kind, task.kernel, task.place}; }

}  // namespace

void check_order(const SubmittedTask* one, const SubmissionOrder& order) {
  const EarlySubmission& kind = *one->device->kind->early;
  if (!kind.checks_order(one->device)) return;
  List<Unordered, 8> all;
  one->device->mapping->list_unordered(one->task->items, one->task->kind == ConstructKind::kExitData, order, all);
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
