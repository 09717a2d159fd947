// SPDX-License-Identifier: Apache-2.0
//
// task, taskwait, taskyield and taskgroup, as Clang calls them.
//
// Clang cuts an untied task into parts at its scheduling points: the routine passes its own block to __kmpc_omp_task
// and returns, and a later call continues at `part_id`. In Marline a task suspends inside the scheduling point instead,
// so the next part follows at once.
#include "abi/kmp/task/task_block.hpp"

#include "abi/kmp/task/depend.hpp"
#include "abi/kmp/task/simple_task.hpp"
#include "construct/task/observed.hpp"
#include "construct/sync/reducing_region.hpp"
#include "construct/task/task_reduction.hpp"
#include "exec/worker/frames.hpp"
#include "platform/memory_domain.hpp"
#include "sched/locality.hpp"

namespace marline::kmp {

namespace {

// Whether the compiler wants the task to be run in place. flang (22 and 23) makes of `if(.false.)` this flag and an
// ordinary call. It makes the same of `mergeable`, so such tasks are run in place, too, as by libomp. Clang does not
// set the flag.
bool is_merged(const Task* task) { return task->has(task_flag::kMergeable); }

// The block of a task with destructors, of a transparent task, or of one for the thread pool. A transparent task stays
// in its team, as does a task of a persistent graph.
[[gnu::noinline]] TaskBlock* allocate_rare(int32_t flags, size_t task_bytes, size_t shareds_bytes,
                                           TaskBlock::Routine routine) {
  if ((flags & (kTaskTransparent | kTaskInPool)) == kTaskInPool && !this_worker()->task->has(task_flag::kInGraph)) {
    TaskBlock* block = allocate_block(run_pool_task, flags, task_bytes, shareds_bytes, routine);
    task_of(block)->flags |= task_flag::kInPool;
    return block;
  }
  if ((flags & kTaskTransparent) == 0 || (flags & kTaskMergedIf0) != 0) {
    return allocate_block(run_task_and_destroy, flags, task_bytes, shareds_bytes, routine);
  }
  TaskBlock* block = allocate_block(run_transparent, flags, task_bytes, shareds_bytes, routine);
  task_of(block)->flags |= task_flag::kTransparent;
  return block;
}

[[gnu::noinline]] TaskBlock* allocate_any(int32_t flags, size_t task_bytes, size_t shareds_bytes,
                                          TaskBlock::Routine routine) {
  if ((flags & (kTaskDestructors | kTaskTransparent | kTaskInPool)) != 0) [[unlikely]] {
    return allocate_rare(flags, task_bytes, shareds_bytes, routine);
  }
  return allocate_block(run_task, flags, task_bytes, shareds_bytes, routine);
}

// A transparent task, or one that is run in place. No compiler makes a task that is both.
[[gnu::noinline]] int32_t spawn_rare(Task* task, const DependenceBuffer& buffer, const void* codeptr) {
  if (is_merged(task)) {
    run_undeferred(this_worker(), task, buffer.list(), buffer.count(), codeptr);
  } else {
    spawn_transparent(this_worker(), task, buffer.list(), buffer.count(), codeptr);
  }
  return 0;
}

[[gnu::noinline]] int32_t spawn_block(TaskBlock* block, const void* codeptr = __builtin_return_address(0)) {
  Worker* worker = this_worker();
  Task* task = task_of(block);
  if (task == worker->task) {  // an untied task between two parts
    task->flags |= task_flag::kRequeued;
    return 0;
  }
  task->priority.store(block->priority, relaxed);
  if (is_simple(worker) && (block->priority == 0 || !options().priority.on) &&
      !task->has(task_flag::kObserved | task_flag::kMergeable)) {
    spawn_simple(worker, task, codeptr);
  } else if (is_merged(task)) [[unlikely]] {
    run_undeferred(worker, task, nullptr, 0, codeptr);
  } else if (is_transparent(task)) [[unlikely]] {
    spawn_transparent(worker, task, nullptr, 0, codeptr);
  } else {
    spawn_task(worker, task, nullptr, 0, codeptr);
  }
  return 0;
}

void forget_kept(Worker* worker) {
  if (worker->pushed.kept != nullptr) SlabPool::release(worker->pushed.kept, worker->pool);
  worker->pushed.kept = nullptr;
}

// Waits for the dependences of a taskwait, or of an undeferred task. An undeferred task with a detach clause, which its
// __kmpc_task_allow_completion_event has announced, needs the dependences once more when its block has ended, so they
// are copied. If they belong to a taskwait after all, the copy is dropped when the next such task is announced.
void wait_for_dependences(const DependenceBuffer& buffer, const void* codeptr) {
  const bool detaches = this_worker()->pushed.detaches;
  taskwait_depend(this_worker(), buffer.list(), buffer.count(), codeptr);
  if (!detaches) return;
  Worker* worker = this_worker();
  // This wait is the announced task's only one: later waits belong to other tasks, and a deferred task does not wait.
  worker->pushed.detaches = false;
  forget_kept(worker);
  worker->pushed.kept = keep_dependences(worker, buffer.list(), buffer.count());
}

void taskwait_for(DependInfo* list, int32_t count, DependInfo* noalias_list, int32_t noalias_count, int32_t nowait,
                  const void* codeptr) {
  DependenceBuffer buffer;
  decode(buffer, list, count);
  decode(buffer, noalias_list, noalias_count);
  if (!nowait) return wait_for_dependences(buffer, codeptr);
  spawn_empty_task(this_worker(), buffer.list(), buffer.count(), codeptr);  // OpenMP 5.2, section 15.5
}

// The observer of target tasks also gets the lengths of the list items.
[[gnu::noinline]] void spawn_observed(Task* task, const DependenceBuffer& buffer, const DependInfo* list, int32_t count,
                                      const DependInfo* noalias_list, int32_t noalias_count, const void* codeptr) {
  SmallArray<size_t> bytes("dependences of a target task");
  decode_bytes(bytes, list, count);
  decode_bytes(bytes, noalias_list, noalias_count);
  DependenceLengths lengths = {bytes.count(), bytes.items()};
  task->lengths = &lengths;
  spawn_task(this_worker(), task, buffer.list(), buffer.count(), codeptr);
}

// Null: the return address of the entry point that this is inlined in, which is read when it is needed.
[[gnu::always_inline]] inline const void* or_own(const void* codeptr) {
  return codeptr != nullptr ? codeptr : __builtin_return_address(0);
}

[[gnu::always_inline]] inline int32_t spawn_after(TaskBlock* block, DependInfo* list, int32_t count,
                                                  DependInfo* noalias_list, int32_t noalias_count,
                                                  const void* codeptr) {
  DependenceBuffer buffer;
  decode(buffer, list, count);
  decode(buffer, noalias_list, noalias_count);
  Task* task = task_of(block);
  task->priority.store(block->priority, relaxed);
  // kObserved is the bit of transparent, pool and observed tasks alike.
  if (task->has(task_flag::kObserved | task_flag::kMergeable)) [[unlikely]] {
    if (is_merged(task) || is_transparent(task)) return spawn_rare(task, buffer, or_own(codeptr));
    if (!is_pool_task(task)) {
      spawn_observed(task, buffer, list, count, noalias_list, noalias_count, or_own(codeptr));
      return 0;
    }
  }
  spawn_task(this_worker(), task, buffer.list(), buffer.count(), or_own(codeptr));
  return 0;
}

void take_kept(Worker* worker, Task* task) {
  worker->pushed.detaches = false;
  if (!task->has(task_flag::kDetach)) return;
  task->kept = worker->pushed.kept;
  worker->pushed.kept = nullptr;
}

[[gnu::always_inline]] inline void begin_if0(Task* task, const void* codeptr) {
  take_kept(this_worker(), task);
  if (is_transparent(task)) [[unlikely]]
    open_undeferred_transparent(this_worker(), task, codeptr);
  begin_undeferred(this_worker(), task, codeptr);
}

// A tool or a debugger is there. The program's function with this frame runs the task's code.
[[gnu::noinline]] void begin_if0_observed(Task* task, void* program_frame, const void* codeptr) {
  set_program_frame(frame_of(this_worker()->task), program_frame);
  set_exit_in_program(frame_of(task), program_frame);
  begin_if0(task, codeptr);
  tool::debug_task_begin();
}

}  // namespace

int32_t spawn_replayable(TaskBlock* block, DependInfo* list, int32_t count, const void* codeptr) {
  return count == 0 ? spawn_block(block, codeptr) : spawn_after(block, list, count, nullptr, 0, codeptr);
}

#pragma GCC visibility push(default)
extern "C" {

TaskBlock* __kmpc_omp_task_alloc(Ident*, int32_t, int32_t flags, size_t task_bytes, size_t shareds_bytes,
                                 TaskBlock::Routine routine) {
  TaskBlock* block = allocate_quickly(flags, task_bytes, shareds_bytes, routine);
  return block != nullptr ? block : allocate_any(flags, task_bytes, shareds_bytes, routine);
}

int32_t __kmpc_omp_task(Ident*, int32_t, TaskBlock* block) {
  Worker* worker = this_worker_or_null();
  Task* task = task_of(block);
  if (worker != nullptr && is_simple_task(worker, task, block)) [[likely]] {
    return create_simple(worker, task, block, __builtin_return_address(0));
  }
  return spawn_block(block, __builtin_return_address(0));
}
int32_t __kmpc_omp_task_parts(Ident*, int32_t, TaskBlock* block) { return spawn_block(block); }

int32_t __kmpc_omp_task_with_deps(Ident*, int32_t, TaskBlock* block, int32_t count, DependInfo* list,
                                  int32_t noalias_count, DependInfo* noalias_list) {
  return spawn_after(block, list, count, noalias_list, noalias_count, nullptr);
}

// In a taskgraph region or not. The arguments after the dependences are functions that move and copy the data of a
// recorded task; they are not needed here.
int32_t __kmpc_taskgraph_task(Ident*, int32_t, TaskBlock* block, int32_t, size_t, size_t, int32_t count,
                              DependInfo* list, void*, void*) {
  return spawn_replayable(block, list, count, __builtin_return_address(0));
}

void __kmpc_omp_task_begin_if0(Ident*, int32_t, TaskBlock* block) {
  if (tool::present()) [[unlikely]] {
    return begin_if0_observed(task_of(block), frame_of_caller(__builtin_frame_address(0)), __builtin_return_address(0));
  }
  begin_if0(task_of(block), __builtin_return_address(0));
}

void __kmpc_omp_task_complete_if0(Ident*, int32_t, TaskBlock* block) {
  Task* task = task_of(block);
  run_further_parts(task, block);  // the compiler called the first part only
  if (block->destructors != nullptr) block->destructors(this_worker()->id, block);
  reducing_region_end(task);
  if (task->invoke == run_transparent) [[unlikely]]
    end_transparent();
  end_undeferred(task);
}

void __kmpc_omp_wait_deps(Ident*, int32_t, int32_t count, DependInfo* list, int32_t noalias_count,
                          DependInfo* noalias_list) {
  DependenceBuffer buffer;
  decode(buffer, list, count);
  decode(buffer, noalias_list, noalias_count);
  wait_for_dependences(buffer, __builtin_return_address(0));
}

void __kmpc_omp_taskwait_deps_51(Ident*, int32_t, int32_t count, DependInfo* list, int32_t noalias_count,
                                 DependInfo* noalias_list, int32_t nowait) {
  taskwait_for(list, count, noalias_list, noalias_count, nowait, __builtin_return_address(0));
}

void __kmpc_taskgraph_taskwait(Ident*, int32_t, int32_t count, DependInfo* list, int32_t nowait) {
  taskwait_for(list, count, nullptr, 0, nowait, __builtin_return_address(0));
}

int32_t __kmpc_omp_taskwait(Ident*, int32_t) {
  taskwait(this_worker(), __builtin_return_address(0));
  return 0;
}

int32_t __kmpc_omp_taskyield(Ident*, int32_t, int32_t) {
  taskyield(this_worker());
  return 0;
}

void __kmpc_taskgroup(Ident*, int32_t) { taskgroup_begin(this_worker(), __builtin_return_address(0)); }
void __kmpc_end_taskgroup(Ident*, int32_t) { taskgroup_end_reducing(this_worker(), __builtin_return_address(0)); }

void* __kmpc_task_allow_completion_event(Ident*, int32_t, TaskBlock* block) {
  Worker* worker = this_worker();
  forget_kept(worker);
  worker->pushed.detaches = true;
  return detach_event(task_of(block));
}

// Called between the task's allocation and its creation (by __kmpc_omp_task or a variant of it). The locators' lengths
// are in bytes.
int32_t __kmpc_omp_reg_task_with_affinity(Ident*, int32_t, TaskBlock* block, int32_t count, AffinityInfo* list) {
  if (!affinity_matters(this_worker()) || is_pool_task(task_of(block))) return 0;
  DomainTally tally;
  for (int32_t i = 0; i < count; ++i) tally.add(list[i].address, list[i].bytes);
  task_of(block)->set_domain(tally.most());
  return 0;
}

// Numbers by which a debugger distinguishes living tasks; 0: there is no task.
uint64_t __kmpc_get_taskid() {
  const Worker* worker = this_worker_or_null();
  return worker != nullptr ? reinterpret_cast<uint64_t>(worker->task) : 0;
}
uint64_t __kmpc_get_parent_taskid() {
  const Worker* worker = this_worker_or_null();
  return worker != nullptr ? reinterpret_cast<uint64_t>(worker->task->parent) : 0;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
