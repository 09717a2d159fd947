// SPDX-License-Identifier: Apache-2.0
//
// fork: the runtime holds its locks while it happens. Handlers that are registered later run before that, so a library
// whose handlers take locks that are held around calls of the runtime asks for the runtime's first. Any thread.
#pragma once

namespace marline {

void handle_forks();

}  // namespace marline
