// SPDX-License-Identifier: Apache-2.0
//
// Keeps what each deferred target task writes according to its depend clauses, from the task's creation until its
// region is launched. Devices ask for it; the runtime orders the tasks without it. Any thread may call these functions.
//
// The record of a cancelled task stays until another task gets the same handle. So there are at most as many records as
// task descriptors.
#pragma once

#include "base/list.hpp"
#include "marline/devices.h"

namespace marline::offload::device {

// A list item of a depend clause whose type is not `in`.
struct Name {
  void* address;
  uint64_t bytes;  // 0: not known
};
using Names = List<Name, 4>;

// Starts to keep names. They are kept until the program ends.
void keep_names();
[[nodiscard]] bool keeps_names();

// Called when the task is created.
void note_names(const marline_target_task_t& reported);
// Moves the names of the task to `to` and deletes the record. False: it is not known what the task writes, because it
// has no depend clause, names omp_all_memory, or was created before names were kept, or because `task` is null.
[[nodiscard]] bool take_names(const marline_claimed_t* task, Names& to);

}  // namespace marline::offload::device
