// SPDX-License-Identifier: Apache-2.0
//
// The parallel construct (OpenMP 5.2, section 10.1).
#pragma once

#include "sched/team.hpp"

namespace marline {

// Of ParallelRequest::proc_bind: bind-var inside is as without the clause. LLVM's runtime has it so; with GCC's the
// clause is bind-var inside, unless OMP_PROC_BIND has an element for that level. OpenMP says nothing.
inline constexpr int kLeavesBindVar = 8;

// A parallel region as a compiler asks for it.
struct ParallelRequest {
  // Runs the outlined function in the implicit task of `member`; reads microtask/arguments/argument_count of the team.
  void (*run_implicit)(Team* team, Member* member);
  void* microtask;
  void** arguments;  // alive until the region ends
  int argument_count;
  int num_threads = 0;                          // 0: no clause
  const ThreadCounts* thread_counts = nullptr;  // more about that clause; null: nothing
  bool if_clause = true;                        // false: one thread
  bool called_by_program = false;  // the program itself calls the outlined function in the opener's implicit task
  void* program_frame = nullptr;   // then: the frame of the program's function that does
  int proc_bind = 0;  // the clause's ProcBind: primary, close or spread, and perhaps kLeavesBindVar; 0: no clause
  const void* codeptr = nullptr;  // return address into the program, for tools
};

// Opens a region: the caller becomes thread 0, the others start run_implicit. Then the caller runs its own implicit
// task (run_implicit, or in line for the old GOMP_parallel_start) and calls parallel_end, which waits for all.
Team* parallel_begin(const ParallelRequest& request);
void parallel_end();

// Both, with run_implicit in between.
void parallel(const ParallelRequest& request);

}  // namespace marline
