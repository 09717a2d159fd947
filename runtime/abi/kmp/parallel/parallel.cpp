// SPDX-License-Identifier: Apache-2.0
//
// parallel, as Clang calls it. Called by any thread of the program.
#include "construct/parallel/parallel.hpp"

#include "abi/kmp/parallel/microtask.hpp"
#include "abi/kmp/types.hpp"
#include "construct/parallel/thread_counts.hpp"
#include "exec/worker/frames.hpp"
#include "exec/worker/worker.hpp"

#include <algorithm>
#include <cstdarg>

namespace marline::kmp {

namespace {

// A tool or a debugger is there.
[[gnu::noinline]] void run_observed(const Team* team, Member* member) {
  tool::debug_task_begin();
  call_microtask(team->microtask, member->worker->id, member->index, team->arguments, team->argument_count,
                 &member->frame.exit_frame.ptr);
  tool::debug_task_end();
}

void run_microtask(Team* team, Member* member) {
  if (tool::present()) [[unlikely]] {
    return run_observed(team, member);
  }
  call_microtask(team->microtask, member->worker->id, member->index, team->arguments, team->argument_count, nullptr);
}

void run_nothing(Team*, Member*) {}

// Reads the clauses announced for the next region, and forgets them.
ParallelRequest take_request(Worker* worker, void* microtask, void** arguments, int count, const void* codeptr) {
  ParallelRequest request{run_microtask, microtask, arguments, count};
  request.num_threads = worker->pushed.num_threads;
  request.thread_counts = worker->pushed.thread_counts;
  request.proc_bind = worker->pushed.proc_bind;
  request.codeptr = codeptr;
  worker->pushed.num_threads = 0;
  worker->pushed.thread_counts = nullptr;
  worker->pushed.proc_bind = 0;
  return request;
}

// severity 0: not strict.
void push_num_threads(uint32_t count, const int32_t* numbers, int32_t severity, const char* message) {
  if (count == 0) return;
  Worker* worker = this_worker();
  ThreadCounts* counts = thread_counts_of(worker);
  counts->count = std::min(count, ThreadCounts::kMost);
  std::copy_n(numbers, counts->count, counts->numbers);
  counts->severity = static_cast<ThreadCounts::Severity>(severity);
  counts->message = message;
  worker->pushed.num_threads = numbers[0];
  worker->pushed.thread_counts = counts;
}

// Clang's numbers are ProcBind's, but it has different ones for `primary` and `master`.
int clause_policy(int32_t proc_bind) {
  constexpr int32_t kMaster = 2, kSpread = 4, kPrimary = 5;
  if (proc_bind == kPrimary) proc_bind = kMaster;
  return proc_bind >= kMaster && proc_bind <= kSpread ? proc_bind | kLeavesBindVar : 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int32_t __kmpc_global_thread_num(Ident*) { return this_worker()->id; }
int32_t __kmpc_global_num_threads(Ident*) { return worker_count(); }
int32_t __kmpc_bound_thread_num(Ident*) { return this_worker()->member->index; }
int32_t __kmpc_bound_num_threads(Ident*) { return this_worker()->member->team->size; }
int32_t __kmpc_in_parallel(Ident*) { return this_worker()->member->team->active_level > 0; }
int32_t __kmpc_ok_to_fork(Ident*) { return 1; }
void __kmpc_begin(Ident*, int32_t) {}  // the library initialises itself when it is loaded
void __kmpc_end(Ident*) {}

void __kmpc_fork_call(Ident*, int32_t argc, Microtask microtask, ...) {
  void* arguments[kMaxArguments];  // only the first argc are set
  va_list list;
  va_start(list, microtask);
  collect_arguments(arguments, argc, list);
  va_end(list);
  parallel(
      take_request(this_worker(), reinterpret_cast<void*>(microtask), arguments, argc, __builtin_return_address(0)));
}

void __kmpc_fork_call_if(Ident*, int32_t argc, Microtask microtask, int32_t condition, void* captured) {
  void* arguments[8] = {captured};
  ParallelRequest request = take_request(this_worker(), reinterpret_cast<void*>(microtask), arguments,
                                         captured != nullptr ? argc : 0, __builtin_return_address(0));
  request.if_clause = condition != 0;
  parallel(request);
}

// Runs the region's outlined function once more in the calling thread's implicit task. No compiler calls it.
int32_t __kmpc_invoke_task_func(int32_t) {
  Member* member = this_worker()->member;
  if (member->team->level == 0) return 0;
  member->team->run_implicit(member->team, member);
  return 1;
}

void __kmpc_serialized_parallel(Ident*, int32_t) {
  ParallelRequest request = take_request(this_worker(), nullptr, nullptr, 0, __builtin_return_address(0));
  request.run_implicit = run_nothing;
  request.if_clause = false;
  request.called_by_program = true;
  request.program_frame = frame_of_caller(__builtin_frame_address(0));
  Team* team = parallel_begin(request);
  set_exit_in_program(&team->members[0].frame, request.program_frame);
  tool::debug_task_begin();
}

void __kmpc_end_serialized_parallel(Ident*, int32_t) {
  tool::debug_task_end();
  parallel_end();
}

void __kmpc_push_num_threads(Ident*, int32_t, int32_t num_threads) { this_worker()->pushed.num_threads = num_threads; }
void __kmpc_push_num_threads_strict(Ident*, int32_t, int32_t num_threads, int32_t severity, const char* message) {
  push_num_threads(1, &num_threads, severity, message);
}
void __kmpc_push_num_threads_list(Ident*, int32_t, uint32_t count, const int32_t* numbers) {
  push_num_threads(count, numbers, 0, nullptr);
}
void __kmpc_push_num_threads_list_strict(Ident*, int32_t, uint32_t count, const int32_t* numbers, int32_t severity,
                                         const char* message) {
  push_num_threads(count, numbers, severity, message);
}
void __kmpc_pop_num_threads(Ident*, int32_t) {
  this_worker()->pushed.num_threads = 0;
  this_worker()->pushed.thread_counts = nullptr;
}
void __kmpc_push_proc_bind(Ident*, int32_t, int32_t proc_bind) {
  this_worker()->pushed.proc_bind = clause_policy(proc_bind);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
