// SPDX-License-Identifier: Apache-2.0
//
// Handles the dependences of a call. Either the caller waits for them, suspended if it is a task, and acts then, so
// that nothing is left to be ordered after the call; or a task is created that has them. Any thread.
#pragma once

#include <cstddef>

namespace marline::offload::abi {

// `list` has `count` of Clang's dependences (LLVM, kmp.h, kmp_depend_info).
void wait_for_dependences(int count, void* list);

// Creates a task, which calls `body` with a copy of `data` when the dependences of all depend objects (omp_depend_t)
// are fulfilled. It is a child of the calling task (OpenMP 5.2, 18.8.7).
void create_task(void (*body)(void* data), const void* data, size_t bytes, int count, void* const* objects);

}  // namespace marline::offload::abi
