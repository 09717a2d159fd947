// SPDX-License-Identifier: Apache-2.0
//
// taskgraph (OpenMP 6.0, section 14.3), as LLVM is about to emit it: the open pull request llvm-project #188765 lists
// the parts. The arguments are those of its kmp.h and of the tests of Clang's code generation (clang/test/OpenMP,
// taskgraph_*.cpp): #216324 and #200404 (tasks), #200405 (taskloop), #200403 (graph_id), #216325 (graph_reset). Clang
// 24 of October 2026 still refuses the directive. The entry points for tasks, taskloops and reductions stand beside the
// ordinary ones (task.cpp, taskloop.cpp, sync/reduction.cpp), the ones for target constructs in taskgraph_target.cpp.
//
// The region's code runs at each encounter, as the standard allows, and its recorded tasks are replayed where the code
// creates them (construct/task/persistent.hpp). So tasks get the firstprivate and shared variables of the present
// encounter, without the compiler's functions that move or copy recorded data, and an encounter that differs is not an
// error. The graph of a region inside another one is part of the outer one, if the same task encounters both.
#include "abi/kmp/task/taskgraph_store.hpp"
#include "abi/kmp/types.hpp"
#include "construct/task/task.hpp"

namespace marline::kmp {

namespace {

// The region is a taskgroup, unless the directive has a nogroup clause.
void run_unrecorded(void (*region)(void*), void* arguments, bool group, const void* codeptr) {
  if (group) taskgroup_begin(this_worker(), codeptr);
  region(arguments);
  if (group) taskgroup_end(this_worker(), codeptr);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// With nogroup the tasks may outlive the region, but a graph that is used again waits for its tasks.
void __kmpc_taskgraph(Ident*, int32_t, Atomic<TaskgraphConstruct*>* handle, uintptr_t graph_id, int32_t graph_reset,
                      int32_t nogroup, void (*region)(void*), void* arguments) {
  Worker* worker = this_worker();
  if (nogroup != 0 || worker->task->has(task_flag::kInGraph | task_flag::kFinal | task_flag::kSharesTable)) {
    return run_unrecorded(region, arguments, nogroup == 0, __builtin_return_address(0));
  }
  StoredGraph* stored = take_graph(*handle, graph_id, graph_reset != 0, worker);
  graph_enter(stored->graph, worker);
  if (graph_iterate(stored->graph)) region(arguments);
  graph_leave(stored->graph);
  give_back_graph(*handle, stored);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
