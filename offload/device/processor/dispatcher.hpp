// SPDX-License-Identifier: Apache-2.0
//
// What a process that is a device does with the commands that come: a dispatching task makes a task of each kernel, and
// runs what is no kernel at once. The threads of a parallel region run these tasks, as many at a time as
// OMP_NUM_THREADS says. When nothing has come for a while the dispatcher sleeps, until somebody adds work; or, while no
// kernel runs, it waits for work itself, so that the next kernel need not be handed from one thread to another.
//
// Programs that wait for each region have one kernel at a time. The process's *first thread* runs such kernels
// itself, outside of any region: their parallel regions have its own team, which stays from kernel to kernel, and
// nobody is woken for them. The region above is the *crew*. It is called when a second kernel comes while the first
// thread runs one, and takes all kernels until several have come one by one.
#pragma once

#include "device/processor/cpu_parts.hpp"

#include <cstdint>

namespace marline::offload::device {

// One command. The storage is the command's own: `run` frees it.
struct Work {
  Work* next;
  bool is_kernel;
  void (*run)(Work*);
};

// A list in the order in which the commands came.
struct WorkList {
  Work* first = nullptr;
  Work** last = &first;

  void append(Work* work) {
    work->next = nullptr;
    *last = work;
    last = &work->next;
  }
};

// Where work comes from. The first two are called by dispatchers, without a lock.
struct WorkSource {
  // Looks whether commands have arrived, and adds those that are work. False: nothing has.
  bool (*receive)();
  // The dispatcher is going to sleep: from now on another thread has to notice what arrives. `receive` follows.
  void (*announce)();
  void (*begin)();  // once, on the first thread of the region, when the runtime has started; may be null
  // Both or none, and for a process's only dispatcher. While there is no kernel that could want the calling thread, it
  // waits until commands may have arrived; false: it cannot, and the dispatcher sleeps. `resume`: it no longer sees to
  // what arrives; may come more than once.
  bool (*wait)() = nullptr;
  void (*resume)() = nullptr;
  // The first thread may run kernels itself. Both are called around one, and may be null: meanwhile another thread
  // has to notice what arrives.
  bool may_run_alone = false;
  void (*begin_alone)() = nullptr;
  void (*end_alone)() = nullptr;
};

inline constexpr int kMostDispatchers = kMostCpuParts;

// Starts the region's first thread. Ends the process if there is none. Dispatchers are numbered from 0 on as they are
// started, one at a time, at most kMostDispatchers. `part`, which stays: its CPUs, with a share of the threads that the
// process may have; null: all.
void start_dispatcher(const WorkSource& source, const CpuPart* part = nullptr);

// Any thread. Wakes the dispatcher; one that is started later finds the work.
void add_work(WorkList& list, int dispatcher = 0);

// By a kernel's `run`, when it has run and nobody has heard of that: the next command is for the same thread.
void kernel_has_run();

// Calls `body` for all of 0 to in front of `count`, each once, in order on each thread that takes part. In a kernel's
// `run`, in front of kernel_has_run, those are all threads of the device, if the kernel is alone; else the calling
// one.
void share_out(uint64_t count, void (*body)(void* data, uint64_t first, uint64_t end), void* data);

// The commands that are no kernels, of all dispatchers, for a thread that runs them while all others run kernels; null:
// none.
[[nodiscard]] Work* take_other_work();
void run_all(Work* list);

// Whether all dispatchers sleep, and when one has last looked for work (tell.hpp, now).
[[nodiscard]] bool dispatcher_sleeps();
[[nodiscard]] uint64_t dispatcher_looked();

}  // namespace marline::offload::device
