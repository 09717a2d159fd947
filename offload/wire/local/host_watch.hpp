// SPDX-License-Identifier: Apache-2.0
//
// Whether the machine at the other end of a TCP connection still answers. A process that ends closes its connections,
// also if it is killed; a machine that crashes, or a network that is cut, says nothing. While nothing is under way the
// system asks by itself (keepalive, tcp(7)) and ends the connection. While data is under way it does not ask, and waits
// for a quarter of an hour; so this process looks itself. TCP_USER_TIMEOUT would end a connection whose peer answers
// and does not read: a process that a debugger holds, or that computes.
#pragma once

namespace marline::offload::wire {

// At the connection's begin: the system is to end it when the other machine has been silent for so long.
void ask_host(int socket, int milliseconds);

// Data is under way, and for so long nothing has come, no acknowledgement either. Of a peer that did not read before,
// it may take the system up to four minutes to see that.
[[nodiscard]] bool is_host_silent(int socket, int milliseconds);

}  // namespace marline::offload::wire
