// SPDX-License-Identifier: Apache-2.0
//
// A record of what a suspended task waits for, for `marline ps` and debuggers. The function that suspends the task
// writes it. The record is on the task's stack, which does not move until the task is resumed; the task's fiber points
// to the record (exec/fiber/fiber.hpp). No other code reads it: exec/view/inspect.cpp copies it from a running process.
#pragma once

#include <cstdint>

struct marline_wait;  // marline.h

namespace marline {

// The names of the kinds are in kWaitKinds (exec/view/inspect_tasks.cpp) and tools/gdb/marline.py.
enum class WaitKind : uint8_t {
  kNone,
  kEvent,        // object: the Event
  kTaskwait,     // for the task's children
  kDependences,  // for a taskwait with depend clauses, or for the dependences of an undeferred task
  kTaskgroup,    // object: the Taskgroup
  kLock,         // object: the LockWord, of a lock or a critical construct
  kTurn,         // object: a word that other threads advance, for example of an ordered loop
  kYield,        // the task is ready: it lets other tasks run first
  kPermission,   // to start a tied task at once, with MARLINE_TASK_CONSTRAINT=strict
  // object: the Event of an undeferred task's detach clause, or that task, for its holds.
  kDetach,
};

struct WaitReason {
  WaitKind kind;
  const void* object;
  const marline_wait* call;  // the description by the caller of marline_event_wait_for; otherwise null
};

}  // namespace marline
