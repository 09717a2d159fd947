// SPDX-License-Identifier: Apache-2.0
//
// Recognises tasks that send messages by their profile: a hash of the properties of their construct (the compiler's
// function, the size of the data, the flags, the number of dependences). When a task sends, its profile is stored here.
// Later tasks with the same profile get the highest priority. Only with options().priority.profiles. Any thread. A
// profile is never forgotten.
#pragma once

#include "sched/team.hpp"

namespace marline {

// The hash for a task that is being allocated; profile_sends adds the number of dependences when the task is spawned.
uint64_t profile_begin(const void* code, size_t block_bytes, uint32_t flags);

// Called by the creator when the task is spawned: whether a task with this profile is known to send.
bool profile_sends(Task* task, size_t dependences);

// Called when the current task of the worker sends. Ignores implicit tasks, which are not scheduled.
void profile_note_send(Worker* worker);

}  // namespace marline
