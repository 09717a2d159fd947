// SPDX-License-Identifier: Apache-2.0
//
// Measures the load of this machine: a process waits longer for other processes on a loaded machine. Any thread.
#pragma once

namespace marline::offload::wire {

// Runnable threads per CPU: the larger of the number now and the average of the last minute. At least 1, and at most
// 10, as a wait has to end.
[[nodiscard]] double crowding();

// The function that Deadline::by_load calls; tests replace it.
extern double (*g_crowding)();

}  // namespace marline::offload::wire
