// SPDX-License-Identifier: Apache-2.0
//
// Copy on write of the internal control variables with task scope. A task that sets one gets its own copy. Children
// that exist already keep the values that they inherited (OpenMP 5.2, section 2.4). So earlier copies live as long as
// the task's descriptor, which lives as long as any descendant. Used by the thread that runs the task.
#pragma once

#include "base/memory/slab.hpp"
#include "task/task.hpp"

namespace marline {

// The task's values, for writing. `pool`: the calling worker's.
Icvs& writable_icvs(Task* task, SlabPool* pool);

// Called when the descriptor is freed, or when an implicit task ends. `base`: the new value of task->icvs.
void free_own_icvs(Task* task, SlabPool* pool, Icvs* base);

}  // namespace marline
