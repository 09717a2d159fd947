// SPDX-License-Identifier: Apache-2.0
//
// A task as the driver creates it. Node 0 keeps it as a part of its record of the task.
#pragma once

#include "cluster/base/message.hpp"

namespace marline::offload::cluster {

// The driver numbers persistent graphs from 1 on; 0: no graph.
using GraphNumber = uint64_t;

struct NewBuffer {
  uint64_t buffer, bytes;
};

// Where and when a task may run.
struct TaskTraits {
  bool is_on_host = false;
  uint32_t kernel = 0;
  uint32_t kinds = ~uint32_t{0};
  NodeNumber pin = kAnyNode;
  int32_t priority = 0;
  bool is_awaited = false;  // see Head::await
  bool may_wait = true;     // it may be planned together with tasks created after it (Head::set_groups)
};

// A target region; or, on the host, a task or a data construct, which runs at node 0, where the variables are.
struct NewTask : TaskTraits {
  List<TaskNumber> predecessors;
  List<TaskAccess> accesses;    // one per range; the ranges do not overlap
  List<NewBuffer> new_buffers;  // buffers that begin to exist with this task
  // Buffers that are removed when this task has ended. All other tasks that use them are ordered before it.
  List<uint64_t> last_of;
  GraphNumber graph = 0;  // the graph to whose iteration the task belongs
  List<uint64_t> words;   // the driver's; in a graph, later iterations may change their values (PlanStep::words)
};

}  // namespace marline::offload::cluster
