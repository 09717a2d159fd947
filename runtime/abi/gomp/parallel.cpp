// SPDX-License-Identifier: Apache-2.0
//
// parallel, as GCC calls it. The interface is described in libgomp's manual, "The libgomp ABI".
#include "construct/parallel/parallel.hpp"

#include "abi/gomp/parallel.hpp"
#include "exec/worker/frames.hpp"

#include <cstdlib>

namespace marline::gomp {

namespace {

using Function = void (*)(void*);
constexpr unsigned kProcBindMask = 7;

void run_function(Team* team, Member* member) {
  call_of(&member->implicit_task, reinterpret_cast<Function>(team->microtask), team->arguments);
}

}  // namespace

ParallelRequest parallel_request(void (*function)(void*), void* data, unsigned num_threads, unsigned flags,
                                 const void* codeptr) {
  ParallelRequest request{run_function, reinterpret_cast<void*>(function), static_cast<void**>(data), 1};
  request.num_threads = static_cast<int>(num_threads);
  request.if_clause = num_threads != 1;                         // GCC passes 1 for if(0)
  request.proc_bind = static_cast<int>(flags & kProcBindMask);  // GCC's numbers are ProcBind's
  request.codeptr = codeptr;
  return request;
}

#pragma GCC visibility push(default)
extern "C" {

void GOMP_parallel(void (*function)(void*), void* data, unsigned num_threads, unsigned flags) {
  parallel(parallel_request(function, data, num_threads, flags, __builtin_return_address(0)));
}

void GOMP_parallel_start(void (*function)(void*), void* data, unsigned num_threads) {
  ParallelRequest request = parallel_request(function, data, num_threads, 0, __builtin_return_address(0));
  request.called_by_program = true;
  request.program_frame = frame_of_caller(__builtin_frame_address(0));
  Team* team = parallel_begin(request);
  set_exit_in_program(&team->members[0].frame, request.program_frame);
  tool::debug_task_begin();
}

void GOMP_parallel_end() {
  tool::debug_task_end();
  void* started_loop = started_loop_of(this_worker()->member->team);
  parallel_end();
  std::free(started_loop);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
