// SPDX-License-Identifier: Apache-2.0
//
// Kernel threads, and how many of them this process should have. Any thread may call these functions.
#pragma once

#include <cstddef>
#include <pthread.h>

#include "platform/topology/cpu_mask.hpp"

namespace marline {

using ThreadMain = void (*)(void* argument);

// The signals that a new thread receives. kFaultsOnly: only signals of its own faults, for threads that run no code of
// the program.
enum class Signals { kFaultsOnly, kAsTheCreator };

// Starts a thread that runs main(argument). `name` (cut to 15 characters by the kernel) is shown by ps and gdb;
// `stack_bytes` 0 is the system's default; `mask` null inherits the caller's. False: the system refuses, and errno is
// the reason. `thread`, if not null, gets the thread's handle, which is valid while the thread is known to live.
// Starting a thread uses no malloc: its first use in a thread costs address space (base/memory/shared_pool.hpp).
[[nodiscard]] bool thread_start_detached(const char* name, ThreadMain main, void* argument, size_t stack_bytes = 0,
                                         const CpuMask* mask = nullptr, Signals signals = Signals::kFaultsOnly,
                                         pthread_t* thread = nullptr);

// The same; the thread must be ended by thread_join.
[[nodiscard]] bool thread_start(pthread_t& thread, const char* name, ThreadMain main, void* argument,
                                size_t stack_bytes = 0, const CpuMask* mask = nullptr);
void thread_join(pthread_t thread);

// Binds the calling thread. False: the system refuses (for example a CPU outside the process's cpuset).
[[nodiscard]] bool thread_bind_self(const CpuMask& mask);

// The CPUs that the calling thread may run on.
CpuMask thread_affinity();

// The CPU time that the process may use, in CPUs: the CPUs of its affinity, limited by the quota of its control group.
int usable_cpus();

// The number of processes of this job on this node, MPI's ranks and their worker processes, from the launchers'
// environment variables; 1 if there is no launcher.
int local_processes();

// The number of threads that this process should have by default: all usable CPUs if the launcher has bound the process
// to a part of the node, otherwise its share of them. At least 1. Constant after the first call.
int cores_per_process();
// Whether the node has more processes of this job than CPUs (or, if the launcher has not bound them, than usable CPUs).
// Constant after the first call, like the function above; the first call must come before threads are bound.
bool shares_cores();

// The pure functions used by the ones above, for tests. The quota file is "MAX PERIOD" in microseconds, MAX may be the
// word max (cgroup v2, cpu.max); 0 means no limit.
int quota_cpus(const char* cpu_max_text);

// The smallest quota, in CPUs, of the control groups of a process. They are mounted at `mount`, and the file
// `membership` is the process's /proc/PID/cgroup; 0 means no limit.
int control_group_cpus_in(const char* mount, const char* membership);
int local_processes_from(const char* (*lookup)(const char* name));
int share_of_node(int usable, int online, int ranks);
bool shares_cores(int bound, int online, int usable, int ranks);

}  // namespace marline
