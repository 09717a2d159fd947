// SPDX-License-Identifier: Apache-2.0
//
// The messages between the nodes of a cluster. Node 0 is the process that runs the program. A task has a number in the
// order of creation, and an index at the node that runs it, in the order in which node 0 assigns tasks to that node.
// docs/design/cluster.md describes the protocol.
//
// Each node that uses a buffer has a copy of it: memory for all its bytes, of which some may be out of date. Every byte
// of a copy has a stamp, a number that identifies the write by which the byte got its value (dataflow/worker.hpp). To
// merge bytes into a copy means to take over the bytes that have a higher stamp there than in the copy. Every range has
// a home: the node to which tasks of other nodes send what they have written in the range, to be merged
// (coherence/directory.hpp).
#pragma once

#include "base/list.hpp"

#include <cstdint>

namespace marline::offload::cluster {

using TaskNumber = uint64_t;
using NodeNumber = uint32_t;
inline constexpr NodeNumber kAnyNode = ~NodeNumber{0};

// Bytes of a buffer. A buffer is one mapping of a variable, from its entry into the data environment until it is
// removed.
struct ClusterRange {
  uint64_t buffer = 0, offset = 0, bytes = 0;
  uint64_t end() const { return offset + bytes; }
};

// A transfer between two nodes is split into parts, so that a node can pass on the first part while later ones are
// still on their way. This is the least size of a part; no range has more than kMostParts parts.
inline constexpr uint64_t kPartBytes = uint64_t{1} << 20;
inline constexpr uint64_t kMostParts = 64;
inline uint64_t bytes_of_part(uint64_t bytes, uint64_t least) {
  uint64_t part = (bytes + kMostParts - 1) / kMostParts;
  return part > least ? part : least;
}

struct TaskAccess {
  ClusterRange range;
  bool may_write = false;
  // With may_write: the task overwrites the whole range. Its node gives every byte the task's stamp, even if the byte's
  // value is the same as before.
  bool overwrites = false;
};

// Identifies a task by the node that runs it and its index there.
struct TaskPlace {
  NodeNumber node = 0;
  uint64_t index = 0;
};

// What a task does with bytes of a buffer, which node they are fetched from and which node they go to.
struct PlannedAccess {
  ClusterRange range;
  bool may_write = false;
  // All other writers in flight are ordered before the task, so later tasks fetch the bytes from this one.
  bool is_sole = false;
  // The bytes are fetched from `source`. The source's node sends them when the bytes that the source task itself gets
  // have come there.
  bool is_fetched = false;
  // The fetch is sent when the task is assigned, not only when its predecessors have ended.
  bool is_early = false;
  bool is_after_end = false;  // the source answers when its task has ended
  // The answer also reports the ends of predecessors, which then send no kEnded.
  bool is_end = false;
  TaskPlace source;
  // The home of the range: the node that gets what the task has written, unless it is the task's own node.
  NodeNumber home = 0;
};

enum class MessageKind : uint8_t {
  kAssign,    // 0 to a node: a task, perhaps long before its inputs exist
  kCancel,    // 0 to a node: task `index` need not run
  kForget,    // 0 to a node: no node will ask for the tasks with the indices `words` any more
  kDrop,      // 0 to a node: drop the copy of buffer `range.buffer`
  kWithdraw,  // 0 to a node: if task `index` has not started, task `peer` runs instead, as its speculative copy
  kPlan,    // 0 to a node: the node's share of plan `index` of a persistent graph (replay/share.hpp defines the words)
  kReplay,  // 0 to a node: `count` tasks of its share of plan `index` become tasks of the node
  kUnplan,  // 0 to a node: plan `index` is not replayed any more
  kAwait,   // 0 to a node: the program waits for tasks below `index`
  // An answer to kWithdraw, to the node of the speculative copy `index`. It counts as the end of the copy's only
  // predecessor. It carries the accesses of the original task, which is `peer` at the sender, or `is_cancelled`: the
  // copy need not run.
  kSpeculativeCopy,
  kSubscribe,  // to a node: when task `index` has ended, send kEnded to `peer`
  kEnded,      // to a node: a predecessor of task `index` has ended
  // To a node: send `range` to `peer`, once the input that task `index` gets of it is there, or the task has ended.
  kFetch,
  kData,    // an answer to kFetch, for task `index`; carries bytes and their stamps
  kDelta,   // what task `peer` has written in `range`, to the home of the range; carries bytes and their stamps
  kMerged,  // an answer to kDelta, for task `index`
  kReport,  // to 0: tasks that have ended
};
// Only node 0 sends the kinds up to this one.
inline constexpr MessageKind kLastOfHead = MessageKind::kAwait, kLastKind = MessageKind::kReport;
// The kinds that a worker may send to node 0.
inline bool is_to_head(MessageKind kind) { return kind >= MessageKind::kSubscribe; }

struct EndedTask {
  uint64_t index;
  bool has_run;
  // The time that the task took, in the driver's unit; of a replay: of all its tasks together.
  double time;
  // Of a replay: the number of tasks from `index` on; their node has dropped their records without a kForget.
  uint64_t count = 1;
};

struct Message {
  MessageKind kind{};
  NodeNumber from = 0, to = 0;
  uint64_t clock = 0;
  uint64_t index = 0;
  TaskPlace peer;
  ClusterRange range;
  // For kFetch: PlannedAccess::is_after_end and is_end of the access for which the bytes are fetched. The answer, a
  // kData, has the same values.
  bool is_after_end = false, is_end = false;
  // For kFetch: a number by which the driver of the asking node identifies its copy of the buffer. The kData returns
  // it.
  uint64_t copy = 0;
  // For kAssign; kSpeculativeCopy also uses `accesses` and `is_cancelled`. In a kFetch, `task` is the asking node's own
  // number for these bytes, which the kData returns.
  TaskNumber task = 0;
  // The ends that the task waits for: of the tasks in `waits_for`, and of the accesses with `is_end`.
  uint32_t predecessors = 0;
  List<TaskPlace> waits_for;  // tasks to which the task's node subscribes
  bool is_cancelled = false;
  bool is_awaited = false;  // the program waits for all tasks up to this one, as with a kAwait
  // Of the tasks that could start, the node starts the one with the highest priority, then the lowest order, then the
  // one that could start first.
  int32_t priority = 0;
  uint64_t order = 0;
  List<PlannedAccess> accesses;
  uint64_t count = 0;  // for kReplay: the number of its tasks
  // For kPlan and kReplay: numbers in the form that replay/share.cpp describes. For kForget: indices of tasks. For
  // kAssign that a node makes of a replay for itself: the driver's words of the task (PlanStep).
  List<uint64_t> words;
  // For kReport.
  List<EndedTask> ended;
};

}  // namespace marline::offload::cluster
