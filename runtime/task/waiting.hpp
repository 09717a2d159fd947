// SPDX-License-Identifier: Apache-2.0
//
// A record of what a suspended task waits for, for `marline ps` and debuggers. The function that suspends the task
// writes it. The record is on the task's stack, which does not move until the task is resumed; the task's fiber points
// to the record (exec/fiber/fiber.hpp). No other code reads it: exec/view/inspect.cpp copies it from a running process.
#pragma once

#include <cstdint>

struct marline_wait;  // marline.h

namespace marline {

// The names stand in kWaitKinds (exec/view/inspect_tasks.cpp) and tools/gdb/marline.py.
enum class WaitKind : uint8_t {
  kNone,
  kEvent,        // object: the Event
  kTaskwait,     // its children
  kDependences,  // taskwait with depend clauses, or an undeferred task's
  kTaskgroup,    // object: the Taskgroup
  kLock,         // object: the LockWord, of a lock or a critical construct
  kTurn,         // object: a word that others advance, of an ordered loop for one
  kYield,        // ready: it has let others go first
  kPermission,   // to start a tied task at once, by MARLINE_TASK_CONSTRAINT=strict
  kDetach,       // object: the Event of the detach clause of an undeferred task, or that task, for its holds
};

struct WaitReason {
  WaitKind kind;
  const void* object;
  const marline_wait* call;  // what the caller of marline_event_wait_for says of it, else null
};

}  // namespace marline
