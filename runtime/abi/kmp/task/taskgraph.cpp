// SPDX-License-Identifier: Apache-2.0
//
// taskgraph (OpenMP 6.0), as LLVM is about to emit it. The entry points are those of the open pull requests
// llvm-project #194051, #200404, #200405 and #216325; the meaning of the arguments is taken from their descriptions and
// from the tests of Clang's code generation. Entry points with uncertain arguments end the program.
//
// The region's code runs each time, and its recorded tasks are replayed where the code creates them
// (construct/task/persistent.hpp). So the tasks see the shared variables of the present encounter without the
// compiler's relocation functions, and an encounter that differs is not an error. The compiler's `*handle` is null at
// first and then points to the region's graphs, one for each graph_id, which live as long as the process. One thread at
// a time uses a graph. Other threads that come at the same time run the region as if the directive were not there. So
// do regions inside another region, and regions in a task that shares its dependences (marline_depend_share).
#include "abi/kmp/task/depend.hpp"
#include "abi/kmp/types.hpp"
#include "base/check.hpp"
#include "base/spin_lock.hpp"
#include "construct/task/persistent.hpp"
#include "construct/task/task.hpp"

#include <cstdlib>
#include <new>

namespace marline::kmp {

namespace {

struct TaskgraphRecord {
  TaskgraphRecord* next;  // of the same construct, which has one record per id
  int64_t id;
  PersistentGraph* graph;
  bool in_use;
};

SpinLock g_lock;  // all records, and the handles; taken twice per region, for the search of its id

// The record of this id, for this thread alone until it gives it back; null: another thread has it.
TaskgraphRecord* take_record(void** handle, int64_t id, Worker* worker) {
  Guard<SpinLock> guard(g_lock);
  auto* record = static_cast<TaskgraphRecord*>(*handle);
  while (record != nullptr && record->id != id) record = record->next;
  if (record == nullptr) {
    record = static_cast<TaskgraphRecord*>(std::malloc(sizeof(TaskgraphRecord)));
    if (record == nullptr) fatal("no memory for the record of a taskgraph region");
    *record = {static_cast<TaskgraphRecord*>(*handle), id, graph_begin(worker, GraphMode::kBarrier), false};
    *handle = record;
  }
  if (record->in_use) return nullptr;
  record->in_use = true;
  return record;
}

void give_back(TaskgraphRecord* record) {
  Guard<SpinLock> guard(g_lock);
  record->in_use = false;
}

// The region is a taskgroup, unless it is nowait.
void run_unrecorded(void (*region)(void*), void* arguments, bool nowait, const void* codeptr) {
  if (!nowait) taskgroup_begin(this_worker(), codeptr);
  region(arguments);
  if (!nowait) taskgroup_end(this_worker(), codeptr);
}

[[noreturn]] void refuse(const char* function) {
  fatal(
      "%s: Marline does not answer this entry point of LLVM's taskgraph yet; leave the construct out of the taskgraph "
      "region, or say replayable(0) on it",
      function);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_taskgraph(Ident*, int32_t, void** handle, int64_t graph_id, int32_t graph_reset, int32_t nowait,
                      void (*region)(void*), void* arguments) {
  const void* codeptr = __builtin_return_address(0);
  Worker* worker = this_worker();
  bool recordable = !nowait && !worker->task->has(task_flag::kInGraph | task_flag::kFinal | task_flag::kSharesTable);
  TaskgraphRecord* record = recordable ? take_record(handle, graph_id, worker) : nullptr;
  if (record == nullptr) return run_unrecorded(region, arguments, nowait != 0, codeptr);
  if (graph_reset) graph_invalidate(record->graph);
  graph_enter(record->graph, worker);
  if (graph_iterate(record->graph)) region(arguments);
  graph_leave(record->graph);
  give_back(record);
}

// The arguments after the dependences are functions that adapt a copy of the task's data to another place; they are not
// needed here.
int32_t __kmpc_taskgraph_task(Ident*, int32_t, TaskBlock* block, int32_t, size_t, size_t, int32_t count,
                              DependInfo* list, void*, void*) {
  DependenceBuffer buffer;
  decode(buffer, list, count);
  Task* task = task_of(block);
  task->priority.store(block->priority, relaxed);
  spawn_task(this_worker(), task, buffer.list(), buffer.count(), __builtin_return_address(0));
  return 0;
}

void __kmpc_taskgraph_taskwait() { refuse("__kmpc_taskgraph_taskwait"); }
void __kmpc_taskgraph_taskloop() { refuse("__kmpc_taskgraph_taskloop"); }
void __kmpc_taskgraph_target() { refuse("__kmpc_taskgraph_target"); }
void __kmpc_taskgraph_taskred_init() { refuse("__kmpc_taskgraph_taskred_init"); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
