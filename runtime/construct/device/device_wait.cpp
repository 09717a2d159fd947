// SPDX-License-Identifier: Apache-2.0
//
// Waits for operations of libomptarget. A waiting task is in no queue, so Task::next links it here. Any thread puts
// tasks into g_started; the one poller at a time (sched/progress.hpp) moves them to g_waiting, queries them, and
// releases the tasks when their operations have ended.
#include "construct/device/device_wait.hpp"

#include "base/check.hpp"
#include "exec/worker/hold.hpp"
#include "sched/progress.hpp"
#include "sched/team.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

namespace marline {

namespace {

constexpr int kMostPerPoll = 64;  // so that thousands of tasks do not hold up other hooks

using Query = void (*)(void** handle);  // sets the handle to null once the operations have ended

Atomic<Query> g_query{nullptr};  // set by any thread that finds the function, always to the same value
Atomic<marline_hook*> g_hook{nullptr};
SpinLock g_hook_lock;  // held while the hook is created
TaskStack g_started;
TaskFifo g_waiting;  // only the poller's
int g_waiting_count = 0;

constexpr const char* kQueryName = "__tgt_target_nowait_query";

// After a number of unsuccessful queries libomptarget blocks the calling thread, which is here the poller of all hooks.
void never_block_in_queries() { setenv("OMPTARGET_QUERY_COUNT_MAX", "0", 0); }

// Runs while there is only one thread, as setenv requires; can_poll_devices handles libraries that dlopen loads later.
[[gnu::constructor]] void on_load() {
  if (dlsym(RTLD_DEFAULT, kQueryName) != nullptr) never_block_in_queries();
}

// Looks in the calling library, for a library that the program's global scope does not contain.
void* find_in_library_of(const void* caller) {
  Dl_info info;
  if (caller == nullptr || dladdr(caller, &info) == 0 || info.dli_fname == nullptr) return nullptr;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = dlsym(library, kQueryName);
  dlclose(library);
  return found;
}

bool operations_have_ended(Task* task) {
  g_query.load(relaxed)(&task->device_handle);
  return task->device_handle == nullptr;
}

void take_started() {
  for (Task* task = reversed<Task, &Task::next>(g_started.take_all()); task != nullptr; ++g_waiting_count) {
    Task* next = task->next;
    g_waiting.push_back(task);
    task = next;
  }
}

// The progress hook.
int poll_devices(void*) {
  take_started();
  int ended = 0;
  for (int left = std::min(g_waiting_count, kMostPerPoll); left > 0; --left) {
    Task* task = g_waiting.pop_front();
    if (!operations_have_ended(task)) {
      g_waiting.push_back(task);
      continue;
    }
    --g_waiting_count;
    ++ended;
    release_hold(this_worker_or_null(), hold_of(task));
  }
  if (ended != 0) progress_add(g_hook.load(relaxed), -ended);
  return ended;
}

marline_hook* hook() {
  marline_hook* known = g_hook.load(acquire);  // pairs with the store below
  if (known != nullptr) return known;
  Guard<SpinLock> guard(g_hook_lock);
  if (g_hook.load(relaxed) == nullptr) {
    known = progress_register("libomptarget", poll_devices, nullptr);
    if (known == nullptr) fatal("no progress hook is left for devices: unregister one of the program's");
    g_hook.store(known, release);
  }
  return g_hook.load(relaxed);
}

}  // namespace

bool can_poll_devices(const void* caller) {
  if (g_query.load(relaxed) != nullptr) return true;
  void* found = dlsym(RTLD_DEFAULT, kQueryName);
  if (found == nullptr) found = find_in_library_of(caller);
  if (found == nullptr) return false;
  never_block_in_queries();
  g_query.store(reinterpret_cast<Query>(found), relaxed);
  return true;
}

void wait_for_device(Task* task) {
  marline_hook* devices = hook();
  (void)hold_current_task();  // the hold that poll_devices releases
  progress_add(devices, 1);   // before the push: a thread that sees the task may find that it has ended
  g_started.push(task);
}

}  // namespace marline
