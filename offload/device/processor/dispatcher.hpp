// SPDX-License-Identifier: Apache-2.0
//
// Runs the commands that arrive in a process that is a device. A dispatching task makes a task of each kernel, and runs
// each other command at once. The threads of a parallel region run these tasks, as many at a time as OMP_NUM_THREADS
// says. When no command has arrived for a while, the dispatcher sleeps until a thread adds work. Or, while no kernel
// runs, its thread waits for commands itself (WorkSource::wait), so that the next kernel need not be handed from one
// thread to another.
//
// A program that waits for each region has one kernel at a time. The *first thread* of the process runs such kernels
// itself, outside of that parallel region. So the parallel regions in these kernels have the first thread's own team,
// which stays from kernel to kernel, and no thread has to be woken to start a kernel. The parallel region of the first
// paragraph is called the *crew*. The crew is called when a second kernel arrives while the first thread runs one. It
// then runs all kernels until several have arrived one by one.
#pragma once

#include "base/intrusive_list.hpp"
#include "device/processor/cpu_parts.hpp"

#include <cstdint>

namespace marline::offload::device {

// One command. `run` frees its storage.
struct Work {
  Work* next;
  bool is_kernel;
  void (*run)(Work*);
};

// In the order in which the commands arrived.
using WorkList = IntrusiveList<Work>;

// Where a dispatcher gets its work. It calls the first two functions without a lock.
struct WorkSource {
  // Looks for commands that have arrived, and adds their work (add_work). False: nothing has arrived.
  bool (*receive)();
  // The dispatcher is going to sleep: from now on another thread has to notice what arrives. The dispatcher calls
  // `receive` once more after that.
  void (*announce)();
  void (*begin)();  // called once, on the dispatcher's first thread, when the runtime has started; may be null
  // Both are set or none, and only for a process's only dispatcher. `wait` is called while there is no kernel that
  // could need the calling thread: it waits until commands may have arrived. False: it cannot wait, and the dispatcher
  // sleeps. `resume`: the dispatcher no longer looks for what arrives; may be called several times in a row.
  bool (*wait)() = nullptr;
  void (*resume)() = nullptr;
  // The first thread may run kernels itself. It calls begin_alone before such a kernel and end_alone after it; both may
  // be null. Between the two, another thread has to notice what arrives.
  bool may_run_alone = false;
  void (*begin_alone)() = nullptr;
  void (*end_alone)() = nullptr;
};

inline constexpr int kMostDispatchers = kMostCpuParts;

// Starts a dispatcher's first thread. Ends the process if no thread can be created. Dispatchers are numbered from 0 on
// in the order of their starts. They are started one after the other, at most kMostDispatchers. `part`: the CPUs that
// the dispatcher's threads use, with a share of the threads that the process may have; it must stay valid. Null: all.
void start_dispatcher(const WorkSource& source, const CpuPart* part = nullptr);

// Any thread. Wakes the dispatcher; a dispatcher that is started later finds the work.
void add_work(WorkList list, int dispatcher = 0);

// A kernel's `run` calls it when the kernel has run, before it reports the end: so the same thread takes the next
// command.
void kernel_has_run();

// Divides the numbers from 0 to `count` - 1 into ranges, one for each thread that takes part, and calls `body` once for
// each range, on its thread. In the `run` of a kernel, before kernel_has_run, all threads of the device take part if
// the first thread runs the kernel; else only the calling thread does.
void share_out(uint64_t count, void (*body)(void* data, uint64_t first, uint64_t end), void* data);

// Takes the commands that are no kernels from all dispatchers, for a thread that runs them while all other threads run
// kernels.
[[nodiscard]] WorkList take_other_work();
void run_all(WorkList list);

// Whether each dispatcher sleeps, or has a first thread that runs a kernel and so does not look for work.
[[nodiscard]] bool dispatcher_sleeps();
// When a dispatcher has last looked for work (base/now.hpp).
[[nodiscard]] uint64_t dispatcher_looked();

}  // namespace marline::offload::device
