// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether the machine at the other end of a TCP connection still answers. When a process ends, even if it is
// killed, its system closes its connections; when a machine crashes or a network is cut, nothing arrives. While no data
// is in flight, the system probes the other machine by itself (keepalive, tcp(7)) and ends the connection. While data
// is in flight, the system does not probe, and waits for a quarter of an hour; so this process checks by itself.
// TCP_USER_TIMEOUT would also end the connection to a peer that answers but does not read: a process that a debugger
// holds, or that computes.
#pragma once

namespace marline::offload::wire {

// Called when the connection opens: the system is to end it when the other machine has been silent for that time.
void ask_host(int socket, int milliseconds);

// Whether data is in flight, and nothing has arrived for that time, not even an acknowledgement. If the peer did not
// read before, the system may need up to four minutes to notice.
[[nodiscard]] bool is_host_silent(int socket, int milliseconds);

}  // namespace marline::offload::wire
