// SPDX-License-Identifier: Apache-2.0
//
// A node's part in plans of persistent graphs: keeps the kernels and ranges of the tasks in its share of a plan, and
// makes tasks from them when the program sends a replay. These are functions of ClusterNode (node.hpp).
#include "device/cluster/worker/node.hpp"

#include "device/cluster/protocol/statistics.hpp"
#include "device/cluster/protocol/times.hpp"

#include <cstring>

namespace marline::offload::device {

using namespace cluster;
using namespace wire;

KernelStart* make_kernel(const void* words, size_t count, const List<UsedRange>& ranges) {
  size_t bytes = sizeof(KernelStart) + count * sizeof(uint64_t) + ranges.count() * sizeof(UsedRange);
  auto* kernel = static_cast<KernelStart*>(std::calloc(1, bytes));
  if (kernel == nullptr) fatal("no memory for a task of the cluster");
  kernel->count = static_cast<uint32_t>(count);
  kernel->range_count = static_cast<uint32_t>(ranges.count());
  if (count != 0) std::memcpy(kernel->words, words, count * sizeof(uint64_t));
  for (size_t i = 0; i < ranges.count(); ++i) kernel->ranges()[i] = ranges[i];
  return kernel;
}

void ClusterNode::read_plan(const Message& message, BlobReader& rest) {
  Share share;
  share.read(message);
  KeptPlan& plan = plans_.add(message.index);
  plan.starts = Shared<PlannedStarts>::make();
  for (const PlanStep& step : share.steps()) {
    PlannedStart& start = plan.starts->by_rank.push({});
    Message task;
    for (const PlanAccess& planned : step.accesses) task.accesses.push(planned.access);
    read_used(task, rest, start.ranges, start.written);
    pass_call(rest, start.call);
  }
  if (!rest.is_good()) fatal("node %u of the cluster has got a plan that is torn", node_);
}

// The core's Worker has accepted the batch of replayed tasks before, so the batch's numbers fit the plan.
void ClusterNode::take_batch(const Message& message) {
  const KeptPlan& plan = *plans_.find(message.index);
  ReplayBatch batch = Share::batch_of(message);
  for (uint64_t rank = batch.from; rank < batch.to; ++rank) {
    Started& started = started_.reach(batch.first_index + rank);
    started.plan = plan.starts;
    started.rank = rank;
    started.transition_to_waiting();
    started.assigned = cluster_times().now_if_wanted();
    count_up(cluster_statistics().waiting);
  }
}

// Makes the kernel of a replayed task, with the words that the command brings.
KernelStart* ClusterNode::kernel_of(const WorkerCommand& command) {
  const Started& started = started_[command.index];
  const PlannedStart& planned = started.plan->by_rank[started.rank];
  const List<uint64_t>& words = command.message.words;
  KernelStart* kernel = make_kernel(words.begin(), words.count(), planned.ranges);
  kernel->call = planned.call;
  return kernel;
}

// The ranges that the task may write; none without `by_pages_`.
const List<ClusterRange>& ClusterNode::written_by(const Started& started) const {
  return started.plan ? started.plan->by_rank[started.rank].written : started.written;
}

}  // namespace marline::offload::device
