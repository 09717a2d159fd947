// SPDX-License-Identifier: Apache-2.0
//
// Workers that somebody has stopped (SIGSTOP): the program waits for them and cannot know why. `marline run` says so of
// the processes that it has started; this says so of the workers that ranks start (launcher.hpp), as far as they are on
// this machine.
#pragma once

namespace marline::offload::device {

// By the program's thread that polls. Cheap; looks every five seconds, and says it once of each.
void look_for_stopped_workers();

}  // namespace marline::offload::device
