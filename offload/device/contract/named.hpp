// SPDX-License-Identifier: Apache-2.0
//
// What the depend clauses of deferred target tasks say that they write, from a task's creation until its region is
// launched: for devices that want to know. The runtime orders the tasks; this only remembers. Any thread.
//
// A task that has been cancelled leaves its record, until another one has its handle: there are as many as descriptors.
#pragma once

#include "base/array.hpp"
#include "marline/devices.h"

namespace marline::offload::device {

// A list item of a depend clause with another type than `in`.
struct Name {
  void* address;
  uint64_t bytes;  // 0: not known
};
using Names = Array<Name, 4>;

// From now on, to the end.
void keep_names();
[[nodiscard]] bool keeps_names();

// At the task's creation.
void note_names(const marline_target_task_t& told);
// False: it is not known what the task writes. It has no depend clause, or names omp_all_memory, or was created before
// names were kept, or `task` is null. The record goes.
[[nodiscard]] bool take_names(const marline_claimed_t* task, Names& to);

}  // namespace marline::offload::device
