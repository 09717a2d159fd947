// SPDX-License-Identifier: Apache-2.0
//
// What the nodes of a cluster tell one another, and the words in which they do. Node 0 is the process that runs the
// program. A task has a number in the order of creation, and one more at the node that runs it: an index, in the
// order in which node 0 assigns tasks to that node. docs/design/cluster.md has the protocol.
#pragma once

#include "cluster/base/list.hpp"

#include <cstdint>

namespace marline::offload::cluster {

using TaskNumber = uint64_t;
using NodeNumber = uint32_t;
inline constexpr NodeNumber kAnyNode = ~NodeNumber{0};

// Bytes of a buffer: of one mapping of a variable, from its entry into the data environment until it goes.
struct ClusterRange {
  uint64_t buffer = 0, offset = 0, bytes = 0;
  uint64_t end() const { return offset + bytes; }
};

// Bytes that go from one node to another go in parts, so a node passes on the first ones while the last ones are on
// their way. A part has at least so many bytes, and no range has more parts than kMostParts.
inline constexpr uint64_t kPartBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMostParts = 64;
inline uint64_t bytes_of_part(uint64_t bytes, uint64_t least) {
  uint64_t part = (bytes + kMostParts - 1) / kMostParts;
  return part > least ? part : least;
}

struct TaskAccess {
  ClusterRange range;
  bool may_write = false;
  bool overwrites = false;  // with may_write: all of it, and its node stamps each byte, whatever was there
};

// A task at a node.
struct TaskPlace {
  NodeNumber node = 0;
  uint64_t index = 0;
};

// What a task does with bytes of a buffer, and which nodes they come from and go to.
struct PlannedAccess {
  ClusterRange range;
  bool may_write = false;
  bool is_sole = false;  // all other writers under way are ordered before the task: whoever comes later fetches from it
  bool is_fetched = false;    // from `source`, once what that task gets of it has come to its node
  bool is_early = false;      // asked for when the task is assigned, not only when its predecessors have ended
  bool is_after_end = false;  // the source answers when that task has ended
  bool is_end = false;        // the answer stands for the ends of predecessors, too, which send no kEnded
  TaskPlace source;
  NodeNumber home = 0;  // gets what the task has written, unless that is the task's own node
};

enum class MessageKind : uint8_t {
  kAssign,     // 0 to a node: a task, perhaps long before its inputs exist
  kSubscribe,  // to a node: when task `index` has ended, tell `peer`
  kCancel,     // 0 to a node: task `index` need not run
  kForget,     // 0 to a node: nobody will ask for the tasks any more whose indices are `words`
  kDrop,       // 0 to a node: the copy of buffer `range.buffer` goes
  kEnded,      // to a node: a predecessor of task `index` has ended
  kFetch,      // to a node: send `range` to `peer`, once what task `index` gets of it is there, or it has ended
  kData,       // an answer to kFetch, for task `index`; carries bytes with their stamps
  kDelta,      // what task `peer` has written in `range`, to its home; carries bytes with their stamps
  kMerged,     // an answer to kDelta, for task `index`
  kReport,     // to 0: tasks that have ended
  kWithdraw,   // 0 to a node: if task `index` has not started, task `peer` stands in for it
  kStandIn,    // an answer to kWithdraw, to the node of task `index`, as the end of its only predecessor: the accesses
               // of task `peer` of the sender, for which it stands in, or `is_cancelled`: it need not run
  kPlan,       // 0 to a node: its share of plan `index` of a persistent graph (replay/share.hpp has the words)
  kReplay,     // 0 to a node: `count` tasks of its share of plan `index` are tasks of the node now
  kUnplan,     // 0 to a node: plan `index` is replayed no more
  kAwait,      // 0 to a node: somebody waits for tasks below `index`
};
inline constexpr MessageKind kLastKind = MessageKind::kAwait;

struct EndedTask {
  uint64_t index;
  bool has_run;
  double time;         // that it took, in the driver's unit; of a replay: all of them together
  uint64_t count = 1;  // of a replay: so many tasks from `index` on, which their node has forgotten by itself
};

struct Message {
  MessageKind kind{};
  NodeNumber from = 0, to = 0;
  uint64_t clock = 0;
  uint64_t index = 0;
  TaskPlace peer;
  ClusterRange range;
  // kFetch, and its answer kData: see PlannedAccess
  bool is_after_end = false, is_end = false;
  uint64_t copy = 0;  // a kFetch has the driver's number of the copy that asks, and its kData has it again
  // kAssign; `accesses` and `is_cancelled` also kStandIn. `task` of a kFetch is the asking node's own number for these
  // bytes, which the kData has again.
  TaskNumber task = 0;
  uint32_t predecessors = 0;  // ends that the task waits for: those of `waits_for`, and accesses with `is_end`
  List<TaskPlace> waits_for;  // tasks that its node subscribes to
  bool is_cancelled = false;
  bool is_awaited = false;  // as kAwait, up to this task
  int32_t priority = 0;     // of tasks that could start, the node starts the one with the highest; of these,
  uint64_t order = 0;       // the one with the lowest; of these, the one that could start first
  List<PlannedAccess> accesses;
  uint64_t count = 0;    // kReplay
  List<uint64_t> words;  // kPlan, kReplay, kForget
  // kReport
  List<EndedTask> ended;
};

}  // namespace marline::offload::cluster
