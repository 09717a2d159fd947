// SPDX-License-Identifier: Apache-2.0
//
// Threads and parallel regions (OpenMP 5.2, sections 20.5.5 and 20.5.6).
#include "space.hpp"

namespace marline::ompd {

namespace {

// The living worker of which `field` is `id`; 0: none, and the reader has failed.
uint64_t find_worker(Reader& in, OmpdField field, uint64_t id) {
  const auto& worker = in.layout().worker;
  uint64_t at = in.pointer(in.layout().newest_worker);
  while (at != 0) {
    if (in.word(at, worker.thread) != 0 && in.word(at, field) == id) break;
    at = in.word(at, worker.created_before);
  }
  if (at == 0) in.fail(Rc::kUnavailable);
  return at;
}

// The number of a thread, which the debugger passes in four or eight bytes.
bool take_id(Size bytes, const void* id, uint64_t* result) {
  if (id == nullptr || (bytes != 4 && bytes != 8)) return false;
  *result = bytes == 4 ? *static_cast<const uint32_t*>(id) : *static_cast<const uint64_t*>(id);
  return true;
}

// Orders two handles of a kind by the address of what they stand for.
template <class T>
Rc compare(const T* first, const T* second, uint64_t T::* address, int* result) {
  if (first == nullptr || second == nullptr) return Rc::kStaleHandle;
  if (result == nullptr || first->space != second->space) return Rc::kBadInput;
  const uint64_t a = first->*address, b = second->*address;
  *result = a < b ? -1 : a > b ? 1 : 0;
  return Rc::kOk;
}

uint64_t member_of(Reader& in, uint64_t team, int number) {
  const auto& layout = in.layout();
  if (number < 0 || number >= in.number(team, layout.team.size)) in.fail(Rc::kBadInput);
  const uint64_t members = in.word(team, layout.team.members);
  return in.rc() == Rc::kOk ? members + static_cast<uint64_t>(number) * layout.member.size : 0;
}

template <class T>
Rc hand_out_if(const Reader& in, const T& value, T** handle) {
  return in.rc() == Rc::kOk ? hand_out(value, handle) : in.rc();
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Rc ompd_get_thread_handle(const Space* space, uint64_t kind, Size id_bytes, const void* id, Thread** handle) {
  uint64_t number = 0;
  if (space == nullptr) return Rc::kStaleHandle;
  if (kind > static_cast<uint64_t>(ThreadKind::kLwp)) return Rc::kUnsupported;
  if (handle == nullptr || !take_id(id_bytes, id, &number)) return Rc::kBadInput;
  Reader in(*space);
  const auto& worker = space->layout.worker;
  const bool native = kind == static_cast<uint64_t>(ThreadKind::kLwp);
  const uint64_t found = find_worker(in, native ? worker.thread : worker.handle, number);
  return hand_out_if(in, Thread{space, found}, handle);
}

Rc ompd_get_thread_in_parallel(const Parallel* parallel, int number, Thread** handle) {
  if (parallel == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*parallel->space);
  const uint64_t worker = in.word(member_of(in, parallel->team, number), in.layout().member.worker);
  if (worker == 0) in.fail(Rc::kUnavailable);
  return hand_out_if(in, Thread{parallel->space, worker}, handle);
}

Rc ompd_rel_thread_handle(Thread* thread) { return release(thread); }

Rc ompd_thread_handle_compare(const Thread* first, const Thread* second, int* result) {
  return compare(first, second, &Thread::worker, result);
}

Rc ompd_get_thread_id(const Thread* thread, uint64_t kind, Size id_bytes, void* id) {
  if (thread == nullptr) return Rc::kStaleHandle;
  if (kind > static_cast<uint64_t>(ThreadKind::kLwp)) return Rc::kUnsupported;
  const bool native = kind == static_cast<uint64_t>(ThreadKind::kLwp);
  if (id == nullptr || (id_bytes != 8 && !(native && id_bytes == 4))) return Rc::kBadInput;
  Reader in(*thread->space);
  const auto& worker = in.layout().worker;
  const uint64_t lwp = in.word(thread->worker, worker.thread);
  const uint64_t number = native ? lwp : in.word(thread->worker, worker.handle);
  if (in.rc() == Rc::kOk && lwp == 0) return Rc::kStaleHandle;  // the thread has ended
  if (id_bytes == 4) {
    *static_cast<uint32_t*>(id) = static_cast<uint32_t>(number);
  } else {
    *static_cast<uint64_t*>(id) = number;
  }
  return in.rc();
}

// While a region begins or ends, it is the current one, though the thread's task is the one that opens it.
Rc ompd_get_curr_parallel_handle(const Thread* thread, Parallel** handle) {
  if (thread == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*thread->space);
  const auto& layout = in.layout();
  uint64_t team = in.word(thread->worker, layout.worker.region);
  if (team == 0 && in.word(thread->worker, layout.worker.task) != 0) {
    team = in.word(in.word(thread->worker, layout.worker.member), layout.member.team);
  }
  if (team == 0) in.fail(Rc::kUnavailable);
  return hand_out_if(in, Parallel{thread->space, team}, handle);
}

Rc ompd_get_enclosing_parallel_handle(const Parallel* parallel, Parallel** handle) {
  if (parallel == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*parallel->space);
  const auto& layout = in.layout();
  const uint64_t team = in.word(in.word(parallel->team, layout.team.parent_member), layout.member.team);
  return hand_out_if(in, Parallel{parallel->space, team}, handle);
}

Rc ompd_rel_parallel_handle(Parallel* parallel) { return release(parallel); }

Rc ompd_parallel_handle_compare(const Parallel* first, const Parallel* second, int* result) {
  return compare(first, second, &Parallel::team, result);
}

Rc ompd_get_curr_task_handle(const Thread* thread, Task** handle) {
  if (thread == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*thread->space);
  const auto& worker = in.layout().worker;
  const uint64_t task = in.word(thread->worker, worker.task);
  if (task == 0) in.fail(Rc::kUnavailable);
  const uint64_t fiber = in.word(thread->worker, worker.fiber);
  const uint64_t around = in.word(thread->worker, worker.memberships);
  return hand_out_if(in, Task{thread->space, task, fiber, around}, handle);
}

Rc ompd_get_task_in_parallel(const Parallel* parallel, int number, Task** handle) {
  if (parallel == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*parallel->space);
  const uint64_t member = member_of(in, parallel->team, number);
  return hand_out_if(in, Task{parallel->space, member + in.layout().member.implicit_task.at, 0, member}, handle);
}

Rc ompd_get_task_parallel_handle(const Task* task, Parallel** handle) {
  if (task == nullptr) return Rc::kStaleHandle;
  if (handle == nullptr) return Rc::kBadInput;
  Reader in(*task->space);
  const uint64_t team = in.word(task->task, in.layout().task.team);
  if (team == 0) in.fail(Rc::kUnavailable);
  return hand_out_if(in, Parallel{task->space, team}, handle);
}

Rc ompd_rel_task_handle(Task* task) { return release(task); }

Rc ompd_task_handle_compare(const Task* first, const Task* second, int* result) {
  return compare(first, second, &Task::task, result);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::ompd
