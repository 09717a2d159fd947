// SPDX-License-Identifier: Apache-2.0
//
// The parallel construct (OpenMP 5.2, section 10.1).
#pragma once

#include "sched/team.hpp"

namespace marline {

// A bit of ParallelRequest::proc_bind: bind-var inside the region is the same as without the clause. This is what
// LLVM's runtime does. In GCC's runtime the clause sets bind-var inside, unless OMP_PROC_BIND has an element for that
// level. OpenMP does not specify it.
inline constexpr int kLeavesBindVar = 8;

// A parallel region as a compiler asks for it.
struct ParallelRequest {
  // Runs the outlined function in the implicit task of `member`; reads microtask/arguments/argument_count of the team.
  void (*run_implicit)(Team* team, Member* member);
  void* microtask;
  void** arguments;  // alive until the region ends
  int argument_count;
  int num_threads = 0;  // 0: no clause
  // List, severity and message of the num_threads clause; null: none.
  const ThreadCounts* thread_counts = nullptr;
  bool if_clause = true;  // false: one thread
  // The program itself calls the outlined function, in the implicit task of the thread that opens the region.
  bool called_by_program = false;
  // With called_by_program: the frame of the calling function of the program.
  void* program_frame = nullptr;
  int proc_bind = 0;  // the clause's ProcBind: primary, close or spread, and perhaps kLeavesBindVar; 0: no clause
  const void* codeptr = nullptr;  // return address into the program, for tools
};

// Opens a region: the caller becomes thread 0, the other threads start run_implicit. Then the caller runs its own
// implicit task (run_implicit, or in line for the old GOMP_parallel_start) and calls parallel_end, which waits for all
// threads.
Team* parallel_begin(const ParallelRequest& request);
void parallel_end();

// parallel_begin, run_implicit and parallel_end.
void parallel(const ParallelRequest& request);

}  // namespace marline
