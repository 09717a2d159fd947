// SPDX-License-Identifier: Apache-2.0
//
// Recognises tasks that send messages by their profile: a hash of the properties of their construct (the compiler's
// function, the size of the data, the flags, the number of dependences). When a task sends, its profile is stored here.
// Later tasks with the same profile get the highest priority. Only with options().priority.profiles. Any thread. A
// profile is never forgotten.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Of a task that is being allocated; completed by the number of its dependences when it is spawned.
uint64_t profile_begin(const void* code, size_t block_bytes, uint32_t flags);

// Creator, when the task is spawned: whether tasks like it are known to send.
bool profile_sends(Task* task, size_t dependences);

// The current task of the worker sends. Not the implicit tasks, which nobody schedules.
void profile_note_send(Worker* worker);

}  // namespace marline
