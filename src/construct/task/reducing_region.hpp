// SPDX-License-Identifier: Apache-2.0
//
// Target regions of Clang's code that take part in a task reduction (OpenMP 5.2, section 5.5.10). Clang 16 to 22 asks for
// the thread's copy of the variable, but what it maps, or passes to the region on the host, is the variable itself. So
// two such regions at a time would each take the other's part away. They exclude each other instead: the variable gets
// what they add, and at the group's end what is in the copies, which other tasks have. One lock for the process: with such
// code no two of these regions can run at the same time, whatever they reduce.
#pragma once

#include "task/task.hpp"

namespace marline {

// The current task is that of such a region, which begins: waits until no other one runs. May suspend; for a task that
// has the lock, or whose ancestor waits with it, it does nothing.
void reducing_region_begin();

// The region's task has ended, on its thread. Of any task.
void reducing_region_end(const Task* task);

}  // namespace marline
