// SPDX-License-Identifier: Apache-2.0
//
// Target tasks, as Clang and LLVM's libomptarget call them, and proxy tasks, which other libraries complete.
// libomptarget drives the devices; without it Clang's code calls the region like a function.
#include "abi/kmp/target.hpp"

#include "abi/kmp/task/task_block.hpp"
#include "config/options.hpp"
#include "construct/device/device_wait.hpp"
#include "construct/task/observed.hpp"
#include "construct/sync/reducing_region.hpp"
#include "exec/worker/frames.hpp"
#include "sched/library_call.hpp"
#include "sched/queue.hpp"

#include <algorithm>

namespace marline::kmp {

namespace {

// The library that claimed a task may leave it to the runtime after all. Such a task has no device_handle: its union
// holds claimed_by, the library's pointer.
void run_target_task(Task* task) {
  if (task->has(task_flag::kClaimed)) [[unlikely]] {
    run_task(task);
    return reducing_region_end(task);
  }
  task->device_handle = nullptr;
  run_task(task);
  if (task->device_handle != nullptr) wait_for_device(task);
  reducing_region_end(task);
}

void run_target_task_and_destroy(Task* task) {
  run_task_and_destroy(task);
  reducing_region_end(task);
}

// For the observer of target tasks.
void describe_entry(Task* task, marline_target_task_t& reported) {
  auto* block = static_cast<TaskBlock*>(task->block);
  reported.form = MARLINE_TARGET_ENTRY;
  reported.device = task->target_device;
  reported.entry = reinterpret_cast<int32_t (*)(int32_t, void*)>(block->routine);
  reported.block = block;
}

void complete_proxy(TaskBlock* block) { fulfil_for_program(acting_worker(), &task_of(block)->event); }

// The word that set_target_handle has set for the calling thread. The thread's task does not suspend meanwhile.
[[gnu::tls_model("initial-exec")]] thread_local void** t_target_handle = nullptr;

}  // namespace

void set_target_handle(void** handle) { t_target_handle = handle; }

bool is_target_task(const Task* task) {
  return task->invoke == run_target_task || task->invoke == run_target_task_and_destroy;
}

Task* current_target_task() {
  Worker* worker = this_worker_or_null();
  Task* task = worker != nullptr ? worker->task : nullptr;
  bool is =
      task != nullptr && task->invoke == run_target_task && !task->has(task_flag::kImplicit | task_flag::kUndeferred);
  return is ? task : nullptr;
}

#pragma GCC visibility push(default)
extern "C" {

// A target task is untied (OpenMP 5.2, section 13.8). libomptarget's own blocks end before `destructors`. Private
// objects with destructors live until the device has done its work: the thread waits for it then, as libomptarget finds
// no handle.
TaskBlock* __kmpc_omp_target_task_alloc(Ident*, int32_t, int32_t flags, size_t task_bytes, size_t shareds_bytes,
                                        TaskBlock::Routine routine, int64_t device) {
  auto invoke = flags & kTaskDestructors                 ? run_target_task_and_destroy
                : flags & (kTaskDetachable | kTaskProxy) ? run_task
                                                         : run_target_task;
  TaskBlock* block =
      allocate_block(invoke, flags & ~kTaskTied, std::max(task_bytes, sizeof(TaskBlock)), shareds_bytes, routine);
  note_target(task_of(block));
  if (tool::on(tool::event::kTargetTasks) && (flags & (kTaskDetachable | kTaskProxy)) == 0) [[unlikely]] {
    let_observe(task_of(block), describe_entry);
    task_of(block)->target_device = device;
  }
  return block;
}

// libomptarget asks first whether the current task can be queued again, then where its handle is.
bool __kmpc_omp_has_task_team(int32_t) { return t_target_handle != nullptr || current_target_task() != nullptr; }

// libomptarget offers its reports of device events to the tool of its runtime. From LLVM 24 on it cannot be loaded
// without this function. Tools get those events from this runtime, so the offer is not taken.
void ompt_libomp_connect(void*) {}

void** __kmpc_omp_get_target_async_handle_ptr(int32_t) {
  if (t_target_handle != nullptr) return t_target_handle;
  Task* task = current_target_task();
  if (task == nullptr || task->has(task_flag::kClaimed)) return nullptr;
  return can_poll_devices(__builtin_return_address(0)) ? &task->device_handle : nullptr;
}

// kmp_target_offload_kind: 0 disabled, 1 default, 2 mandatory.
int32_t __kmpc_get_target_offload() {
  switch (options().target_offload) {
    case TargetOffload::kDisabled: return 0;
    case TargetOffload::kMandatory: return 2;
    default: return 1;
  }
}

// The first is called by a thread of the team, the second by any other thread.
void __kmpc_proxy_task_completed(int32_t, TaskBlock* block) { complete_proxy(block); }
void __kmpc_proxy_task_completed_ooo(TaskBlock* block) { complete_proxy(block); }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
