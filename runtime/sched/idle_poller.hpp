// SPDX-License-Identifier: Apache-2.0
//
// Which worker has the role of the one idle worker that polls while operations are pending. The functions of
// sched/progress.hpp give the role and take it away.
#pragma once

#include "base/atomic.hpp"

namespace marline {

struct Worker;

inline Atomic<Worker*> g_idle_poller{nullptr};

// Whether the worker has the role. The load is seq_cst, and so are the operations by which a worker takes and drops the
// role, because others_sleep uses the result in the sleep protocol (sched/idle.hpp).
inline bool has_idle_role(const Worker* worker) { return g_idle_poller.load(seq_cst) == worker; }

}  // namespace marline
