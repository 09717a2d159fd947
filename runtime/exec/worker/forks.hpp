// SPDX-License-Identifier: Apache-2.0
//
// Registers the runtime's fork handlers, which hold its locks while a fork happens. Before a fork, handlers that are
// registered later run first. So a library that holds locks of its own around calls of the runtime, and takes them in
// fork handlers, calls this before it registers them. Any thread.
#pragma once

namespace marline {

void handle_forks();

}  // namespace marline
