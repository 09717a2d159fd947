// SPDX-License-Identifier: Apache-2.0
//
// Start: reads the options when the library is loaded. When the first thread enters the runtime, reads them again if
// the program has changed variables by then, and starts tools. End: completes tasks that the initial thread has left
// unfinished, then finalizes the tool.
#include "exec/worker/runtime.hpp"

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "base/sanitizer.hpp"
#include "config/options.hpp"
#include "config/read_options.hpp"
#include "config/show_options.hpp"
#include "exec/view/counters.hpp"
#include "exec/view/debugger.hpp"
#include "exec/worker/worker.hpp"
#include "platform/allocator.hpp"
#include "platform/identity.hpp"
#include "platform/mpi_calls.hpp"
#include "platform/topology/hw_subset.hpp"
#include "platform/thread.hpp"
#include "sched/library_call.hpp"
#include "tool/tool.hpp"

#include <pthread.h>
#include <sched.h>

#include <cerrno>
#include <cstdlib>

namespace marline {

namespace {

// kSettled: the program has used OpenMP; later changes of its environment have no effect. The thread that moves it from
// kUnsettled reads the environment.
enum : int { kUnsettled, kBeingRead, kSettled };
Atomic<int> g_settled{kUnsettled};

// The thread is in a tool's initialize, which may call OpenMP's routines: DLB sets the number of threads there.
[[gnu::tls_model("initial-exec")]] thread_local bool t_in_initialize = false;

void start_tool() {
  t_in_initialize = true;
  tool::initialize();
  t_in_initialize = false;
  if (tool::present()) options_note_tool();
  if (Worker* worker = this_worker_or_null()) announce_root_begin(worker);  // made for a routine in initialize
}

void read_options() {
  static bool first = true;
  if (first) sanitizers_look_up();
  if (!options_init()) return;
  if (first) keep_to_hw_subset();  // once: the subset is taken of the parts of the machine that are in use at that time
  first = false;
  options_set_default_threads(cores_per_process());
  (void)shares_cores();  // by a thread that is not bound yet
  if (options().settings) options_display_settings();
  if (options().display_env != DisplayEnv::kOff) options_display(options().display_env == DisplayEnv::kVerbose);
}

// In the child: the thread that was reading is not there, so this thread reads.
void after_fork_in_child() {
  int being_read = kBeingRead;
  (void)g_settled.compare_exchange_strong(being_read, kUnsettled, relaxed, relaxed);
}

[[gnu::constructor]] void on_load() {
  read_options();
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
}

// A thread of the program's in its initial task.
bool is_between_regions(const Worker* worker) {
  return worker != nullptr && worker->root && worker->task == &worker->member->implicit_task &&
         worker->member->team->level == 0 && !worker->task->has(task_flag::kInitial);
}

// exit() runs the implicit barrier that ends the initial task (OpenMP 5.2, section 10.1: it completes all its tasks).
// Not after an error: what the tasks wait for may never come.
void at_exit() {
  Worker* worker = this_worker_or_null();
  if (is_between_regions(worker) && !is_failing()) finish_root_tasks(worker);
  finalize_tool(worker);
  warn_of_unserved_mpi();
  if (options().counters) counters_print();
}

}  // namespace

void settle_options() {
  if (g_settled.load(acquire) == kSettled) return;  // pairs with the store below
  int unsettled = kUnsettled;
  if (!g_settled.compare_exchange_strong(unsettled, kBeingRead, acquire, relaxed)) return;
  const int error_number = errno;  // the program's: it need not know that OpenMP begins here
  read_options();
  (void)memory_allocator_initial();  // made here, so that no later caller has to make it
  errno = error_number;
  g_settled.store(kSettled, release);  // pairs with the load above
}

void finalize_tool(Worker* worker) {
  if (worker == nullptr) {
    end_pool_threads(worker);
  } else if (is_between_regions(worker)) {
    end_pool_threads(worker);
    announce_root_end(worker);
  }
  tool::finalize();
}

void runtime_start() {
  if (t_in_initialize) return options_note_tool();  // before the first task
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] {
    settle_options();
    while (g_settled.load(acquire) != kSettled) sched_yield();  // another thread reads them; pairs with settle_options
    const int error_number = errno;
    record_use();
    tool::forget_callbacks();
    if (options().debug) debugger_start();
    start_tool();
    warn_of_unserved_mpi();
    std::atexit(at_exit);
    errno = error_number;
  });
}

Worker* register_root_worker() {
  if (is_inside_library()) return begin_callback();
  runtime_start();
  if (Worker* made = this_worker_or_null()) return made;  // in initialize
  Worker* worker = make_root_worker();
  if (!t_in_initialize) announce_root_begin(worker);
  return worker;
}

}  // namespace marline
