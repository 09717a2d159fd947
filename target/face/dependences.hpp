// SPDX-License-Identifier: Apache-2.0
//
// Dependences of calls that no task carries: the caller waits for them, suspended if it is a task, and acts then, so that
// nothing is left to be ordered behind the call. Any thread.
#pragma once

namespace marline::target {

// `list` has `count` of Clang's dependences (LLVM, kmp.h, kmp_depend_info).
void wait_for_dependences(int count, void* list);

// Those of all depend objects (omp_depend_t).
void wait_for_depend_objects(int count, void* const* objects);

}  // namespace marline::target
