// SPDX-License-Identifier: Apache-2.0
//
// Handles this library's locks when the program forks. A thread that holds a lock does not exist in the child, so the
// forking thread first takes all locks, and both parent and child release them: the child finds lists and trees as they
// are between two operations. A lock that is listed here stays listed until the process ends.
#pragma once

#include "base/lock.hpp"

namespace marline::offload {

// The order in which a fork takes the locks. A thread that holds a lock takes only locks of later lines, and no second
// lock of the same line. No holder of a lock waits for the loader's lock, as the forking thread may hold that one.
enum class ForkOrder : int {
  kProcesses,    // the list of processes
  kTables,       // the tables of `declare target` variables of GCC's code
  kModules,      // the modules that were loaded when the processes were started
  kFunctions,    // the functions of GCC's regions
  kImages,       // Clang's images and their entries
  kCompletions,  // of a process: its completions, which end constructs
  kMapping,      // the data environment of a device
  kCommands,     // of a process: the commands that are sent to it
  kUsersMemory,  // the blocks of omp_target_alloc
  kArena,        // the memory of a process
  kLoader,    // the list of modules; the loader does not hold its lock on that list while it runs code of the program
  kPrograms,  // the identities of modules
  kNodes,     // operations of devices on nodes
  kUnderWay,  // operations of libomptarget; its other locks are not listed, as a fork's child has no GPU
  kCopies,    // copies of NVIDIA GPUs
  kPendingConstructs,  // pending constructs, for `marline ps`
  kSubmission,         // constructs that are submitted early
  kReductions,         // task reductions with early-submitted regions
  kNames,              // what the depend clauses of target tasks name
  kInterop,            // interoperability objects
  kCount
};

// Lists the lock: forks take it from now on. Any thread.
void hold_across_forks(Lock& lock, ForkOrder order);

// Lists a global lock when the library is loaded.
struct HeldAcrossForks {
  HeldAcrossForks(Lock& lock, ForkOrder order) { hold_across_forks(lock, order); }
};

// Registers the fork handlers. Called once, before the program can use a device. `in_child` is called in the child of
// each fork, which has one thread, after the listed locks have been released.
void handle_forks(void (*in_child)());

}  // namespace marline::offload
