// SPDX-License-Identifier: Apache-2.0
//
// The role of the one idle worker that polls while operations are pending: who has it (sched/progress.hpp gives it).
#pragma once

#include "base/atomic.hpp"

namespace marline {

struct Worker;

inline Atomic<Worker*> g_idle_poller{nullptr};

// seq_cst, as taking the role: for others_sleep (sched/idle.hpp).
inline bool has_idle_role(const Worker* worker) { return g_idle_poller.load(seq_cst) == worker; }

}  // namespace marline
