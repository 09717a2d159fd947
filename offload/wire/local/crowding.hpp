// SPDX-License-Identifier: Apache-2.0
//
// How crowded this machine is: by it those wait longer who wait for other processes. Any thread.
#pragma once

namespace marline::offload::wire {

// Threads that want to run, by CPU: the more of now and of the last minute. From 1 to 10, as a wait has to end.
[[nodiscard]] double crowding();

// What Deadline::by_load asks; a test sets another.
extern double (*g_crowding)();

}  // namespace marline::offload::wire
