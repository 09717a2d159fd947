// SPDX-License-Identifier: Apache-2.0
//
// Kernel threads, and how many of them make sense here. Any thread may call these.
#pragma once

#include <cstddef>
#include <pthread.h>

#include "platform/topology/cpu_mask.hpp"

namespace marline {

using ThreadMain = void (*)(void* argument);

// Which signals a new thread takes. kFaultsOnly: those of its own faults, for threads that run no code of the
// program's.
enum class Signals { kFaultsOnly, kAsTheCreator };

// Starts a thread that runs main(argument). `name` (cut to 15 characters by the kernel) is what ps and gdb show;
// `stack_bytes` 0 is the system's default; `mask` null inherits the caller's. False, with errno as the reason, if the
// system refuses. `thread`, if not null, becomes its name, good while the thread is known to live. A thread's start
// takes nothing from malloc: the first time costs address space (base/memory/shared_pool.hpp).
[[nodiscard]] bool thread_start_detached(const char* name, ThreadMain main, void* argument, size_t stack_bytes = 0,
                                         const CpuMask* mask = nullptr, Signals signals = Signals::kFaultsOnly,
                                         pthread_t* thread = nullptr);

// The same; to be ended by thread_join.
[[nodiscard]] bool thread_start(pthread_t& thread, const char* name, ThreadMain main, void* argument,
                                size_t stack_bytes = 0, const CpuMask* mask = nullptr);
void thread_join(pthread_t thread);

// Binds the calling thread. False if the system refuses (a CPU outside the process's cpuset, say).
[[nodiscard]] bool thread_bind_self(const CpuMask& mask);

// The CPUs that the calling thread may run on.
CpuMask thread_affinity();

// CPUs worth of time that the process may use: those of its affinity, cut by the quota of its control group.
int usable_cpus();

// Processes of this job on this node, MPI's ranks and their workers, from what the launchers put into the environment;
// 1 if there is no launcher.
int local_processes();

// Threads that this process should have if nobody says how many: all usable CPUs if the launcher has bound the
// process to a part of the node, else its share of them. At least 1. Constant after the first call.
int cores_per_process();
// Whether the node has more processes of this job than CPUs: than it may use, if the launcher has bound none. Constant
// after the first call, as the above; that is to come before threads are bound.
bool shares_cores();

// The pure functions beneath, for tests. The quota file is "MAX PERIOD" in microseconds, MAX may be the word max
// (cgroup v2, cpu.max); 0 means no limit.
int quota_cpus(const char* cpu_max_text);

// The least quota, in CPUs, of the control groups that a process is in, where they are mounted at `mount` and the file
// `membership` is its /proc/PID/cgroup; 0 means no limit.
int control_group_cpus_in(const char* mount, const char* membership);
int local_processes_from(const char* (*lookup)(const char* name));
int share_of_node(int usable, int online, int ranks);
bool shares_cores(int bound, int online, int usable, int ranks);

}  // namespace marline
