// SPDX-License-Identifier: Apache-2.0
//
// What a fork of the program does with this library's locks. A thread that holds one is not there in the child, so the
// forking thread takes all of them first, and both sides release them: the child finds lists and trees as they are
// between two operations. A lock is in the list from its making to the end of the process.
#pragma once

#include "base/lock.hpp"

namespace marline::offload {

// The order in which a fork takes them. A thread that has one lock only takes those of later lines, and among those of
// a line no second one. No holder waits for the loader's lock: the forking thread may have it.
enum class ForkOrder : int {
  kProcesses,    // the list of processes
  kTables,       // of GCC's variables
  kModules,      // those that were loaded at the start of processes
  kFunctions,    // GCC's regions
  kImages,       // Clang's images and their entries
  kCompletions,  // of a process: they end constructs
  kMapping,      // a data environment
  kCommands,     // of a process
  kUsersMemory,  // the blocks of omp_target_alloc
  kArena,        // a process's memory
  kLoader,       // the list of modules; the loader does not hold its lock on that while it runs code of the program
  kPrograms,     // the identities of modules
  kNodes,        // operations of nodes
  kUnderWay,     // operations of libomptarget; its other locks are not here: a fork has no GPU
  kCopies,       // copies of NVIDIA's GPUs
  kAsides,       // regions that are put aside
  kAhead,        // regions that are sent ahead
  kReductions,   // in which they take part
  kNames,        // what target tasks name
  kCount
};

// Any thread.
void hold_across_forks(Lock& lock, ForkOrder order);

// For the locks that are global.
struct HeldAcrossForks {
  HeldAcrossForks(Lock& lock, ForkOrder order) { hold_across_forks(lock, order); }
};

// Once, before the program can use a device. `in_child` is called in each fork's child, which has one thread; the locks
// are free by then.
void handle_forks(void (*in_child)());

}  // namespace marline::offload
