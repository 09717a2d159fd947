// SPDX-License-Identifier: Apache-2.0
//
// Handles the dependences that a program passes to a routine. Either the routine waits until they are fulfilled and
// then does its work itself (a task is suspended meanwhile), or it creates a task with these dependences. Any thread.
#pragma once

#include <cstddef>

namespace marline::offload::abi {

// `list` is an array of `count` dependences in Clang's form (LLVM, kmp.h, kmp_depend_info).
void wait_for_dependences(int count, void* list);

// Creates a task, which calls `body` with a copy of `data` when the dependences of all depend objects (omp_depend_t)
// are fulfilled. It is a child of the calling task (OpenMP 5.2, 18.8.7).
void create_task(void (*body)(void* data), const void* data, size_t bytes, int count, void* const* objects);

}  // namespace marline::offload::abi
