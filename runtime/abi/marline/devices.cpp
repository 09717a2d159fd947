// SPDX-License-Identifier: Apache-2.0
//
// The entry points of include/marline/devices.h. Any thread.
#include "marline/devices.h"

#include "abi/gomp/target/target.hpp"
#include "abi/kmp/target.hpp"
#include "construct/device/provider.hpp"
#include "construct/device/rectangle.hpp"
#include "construct/device/target.hpp"
#include "construct/task/next_task.hpp"
#include "construct/task/persistent_steps.hpp"
#include "construct/sync/reducing_region.hpp"
#include "construct/task/task_reduction.hpp"
#include "exec/team/binding.hpp"
#include "exec/worker/cancellation.hpp"
#include "exec/worker/forks.hpp"
#include "exec/worker/run_task.hpp"
#include "exec/worker/suspend.hpp"
#include "exec/worker/worker.hpp"
#include "platform/mpi_calls.hpp"
#include "platform/thread.hpp"
#include "sched/progress.hpp"
#include "tool/target_observer.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#define MARLINE_EXPORT extern "C" [[gnu::visibility("default")]]

MARLINE_EXPORT void marline_target_region_run(const marline_target_region_t* region) {
  marline::target_region(marline::this_worker(),
                         {region->body, region->data, region->thread_limit, region->device, region->kernel});
}

MARLINE_EXPORT int marline_thread_share(const unsigned long* cpus, size_t words, int threads) {
  marline::CpuMask mask;
  static_assert(sizeof *cpus == sizeof mask.words[0]);
  if (threads < 1) return EINVAL;
  std::copy_n(cpus, std::min(words, std::size(mask.words)), mask.words);
  return marline::take_cpu_share(marline::this_worker(), mask, threads);
}

MARLINE_EXPORT marline_task_t* marline_target_task_hold() {
  const marline::Task* task = marline::kmp::current_target_task();
  return task != nullptr && !task->has(marline::task_flag::kPinned) ? marline_task_hold() : nullptr;
}

MARLINE_EXPORT int marline_target_can_suspend() {
  const marline::Worker* worker = marline::this_worker_or_null();
  return marline::can_suspend() && !worker->task->has(marline::task_flag::kPinned) ? 1 : 0;
}

// A region that is not deferred has an undeferred task of its own if it takes part in a reduction. The flags cannot
// tell that task from an ordinary undeferred task that takes part in a reduction and has a region inside. But a region
// inside such a task names that task's own copy.
MARLINE_EXPORT int marline_target_region_reduces(void* const* addresses, int count) {
  const marline::Worker* worker = marline::this_worker_or_null();
  const marline::Task* task = worker != nullptr ? worker->task : nullptr;
  constexpr uint32_t kReduces = marline::task_flag::kUndeferred | marline::task_flag::kPinned;
  if (task == nullptr || (task->flags & kReduces) != kReduces) return 0;
  int next = 0;
  while (next < count && !marline::is_of_others_reduction(worker, addresses[next])) ++next;
  if (next == count) return 0;
  marline::reducing_region_begin();
  return 1;
}

MARLINE_EXPORT void marline_target_region_ends() { marline::reducing_region_end(marline::this_worker()->task); }

MARLINE_EXPORT void marline_target_data_begins() {
  marline::Worker* worker = marline::this_worker_or_null();
  if (worker != nullptr && worker->task != nullptr) marline::leave_renewed_iteration(worker);
}

MARLINE_EXPORT void marline_target_handle_set(void** handle) { marline::kmp::set_target_handle(handle); }

MARLINE_EXPORT int marline_target_node() { return marline::take_next_node(marline::this_worker()); }

MARLINE_EXPORT void marline_progress_may_rest(marline_hook_t* hook) { marline::progress_let_rest(hook); }

MARLINE_EXPORT int marline_progress_poll() { return marline::progress_when_idle(marline::this_worker_or_null()); }

MARLINE_EXPORT int marline_shares_cores() { return marline::shares_cores() ? 1 : 0; }

MARLINE_EXPORT void marline_rectangle_runs(const marline_rectangle_t* rectangle,
                                           void (*copy)(void* data, size_t to_offset, size_t from_offset, size_t bytes),
                                           void* data) {
  marline::rectangle_runs(*rectangle, 0, 0, copy, data);
}

MARLINE_EXPORT void marline_ranks_meet(const marline_ranks_t* ranks) {
  if (const marline_device_provider_t* devices = marline::device_provider()) devices->meet(ranks);
}

MARLINE_EXPORT void marline_mpi_is_served() { marline::mpi_is_served(); }

MARLINE_EXPORT int marline_devices_provide(const marline_device_provider_t* provider) {
  // First: a library that holds locks around calls of the runtime registers its fork handlers later (forks.hpp).
  marline::handle_forks();
  return marline::provide_devices(provider) ? 0 : -1;
}

MARLINE_EXPORT int marline_target_tasks_observe(const marline_target_observer_t* observer) {
  if (observer->bytes < sizeof *observer || observer->created == nullptr) return -1;
  marline::handle_forks();  // as above
  return marline::tool::observe_target_tasks(observer) ? 0 : -1;
}

MARLINE_EXPORT void marline_claimed_end(marline_claimed_t* task) {
  marline::end_claimed(marline::this_worker_or_null(), reinterpret_cast<marline::Task*>(task));
}

MARLINE_EXPORT void marline_claimed_detach(marline_claimed_t* task) {
  marline::detach_claimed(marline::this_worker_or_null(), reinterpret_cast<marline::Task*>(task));
}

MARLINE_EXPORT void marline_claimed_run(marline_claimed_t* task) {
  marline::run_claimed(marline::this_worker_or_null(), reinterpret_cast<marline::Task*>(task));
}

MARLINE_EXPORT marline_claimed_t* marline_target_task_told() {
  marline::Task* task = marline::kmp::current_target_task();
  if (task == nullptr) task = marline::gomp::current_target_task();
  bool is_reported = task != nullptr && !task->has(marline::task_flag::kReplayed | marline::task_flag::kPersistent);
  return is_reported ? reinterpret_cast<marline_claimed_t*>(task) : nullptr;
}

MARLINE_EXPORT int marline_claimed_is_cancelled(const marline_claimed_t* task) {
  return marline::is_cancelled(reinterpret_cast<const marline::Task*>(task)) ? 1 : 0;
}
