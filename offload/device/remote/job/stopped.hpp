// SPDX-License-Identifier: Apache-2.0
//
// Warns of workers that are stopped (SIGSTOP), because the program waits for them and the user cannot see why. `marline
// run` warns of the processes that it has started; this function warns of the workers that ranks start (launcher.hpp),
// if they are on this machine.
#pragma once

namespace marline::offload::device {

// Called by the program's thread that polls. Cheap: looks every five seconds, and warns once of each worker.
void look_for_stopped_workers();

}  // namespace marline::offload::device
