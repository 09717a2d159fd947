// SPDX-License-Identifier: Apache-2.0
//
// Deferred tasks of GCC's code without clauses. Such a task is queued, or runs at its creation: on a fiber of its own,
// so that its creator can go on if it blocks. In the latter case it mostly goes a short way: a spare descriptor
// (spare_task.hpp), its arguments on that fiber's stack, and it is counted in its creator only if it blocks, or at its
// end if a part of its subtree outlives it. Until then the creator's frame waits on the same thread, so nobody asks for
// the counts. Run by the thread that runs the creator.
#pragma once

#include "abi/gomp/task_block.hpp"

namespace marline::gomp {

// is_simple (construct/task/task.hpp) is true, and the arguments need no larger alignment than a TaskBlock.
[[gnu::noinline]] void create_simple(Worker* worker, Function function, void* data, size_t bytes, unsigned flags,
                                     const void* codeptr);

}  // namespace marline::gomp
