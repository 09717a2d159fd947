// SPDX-License-Identifier: Apache-2.0
//
// The word that OMPT keeps for the tool in each task: the task's id, or the data of the announcement that must be
// written before a record may contain the id. A task is announced by the event that begins its life (task_create,
// implicit_begin). If that event was not recorded, because recording was off or the runtime did not send it, the first
// event that names the task announces it. So every task in a trace has been announced. The word is written by the
// thread that creates, begins or first names the task.
// creates, begins or first names the task.
#ifndef MARLINE_TRACE_TASK_WORDS_HPP
#define MARLINE_TRACE_TASK_WORDS_HPP

#include "base/stream.hpp"

namespace marline::trace {

// A word is an id (48 bits, above 0); 0 for an explicit task of which nothing is known; or negative for an implicit
// task that began unrecorded, with its number in the team. Such a task has no id yet: a program may open any number of
// regions while recording is off.
constexpr u64 kUnannouncedImplicit = u64{1} << 63;

inline u64 unannounced_implicit(unsigned index) { return kUnannouncedImplicit | index; }

// Writes the task's late announcement into the stream and its id into the word. If task events are not wanted, what
// happens in an explicit task belongs to the implicit task that the thread is in: then returns that task's id.
u64 announce(Stream& stream, u64& word);

inline bool announced(u64 word) { return static_cast<i64>(word) > 0; }

// The id that events on this task carry.
inline u64 task_id(Stream& stream, u64& word) {
  return __builtin_expect(announced(word), 1) ? word : announce(stream, word);
}

}  // namespace marline::trace

#endif
