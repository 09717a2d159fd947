// SPDX-License-Identifier: Apache-2.0
//
// Sets up keepalive, and reads the state of a connection from TCP_INFO.
#include "wire/local/host_watch.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>

namespace marline::offload::wire {

// Sends the first probe after a third of the time, then one every sixth of it.
void ask_host(int socket, int milliseconds) {
  int seconds = (milliseconds + 999) / 1000, one = 1;
  int first = std::max(1, seconds / 3), step = std::max(1, seconds / 6), times = std::max(1, (seconds - first) / step);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &first, sizeof first);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &step, sizeof step);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

// The system sends data again that is not acknowledged. If the peer has no room, the system sends no data. It probes
// for room instead, less and less often, down to once in two minutes; each answer resets the count of probes.
bool is_host_silent(int socket, int milliseconds) {
  constexpr int kUnanswered = 2;
  tcp_info facts = {};
  socklen_t size = sizeof facts;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &facts, &size) != 0) return false;
  if (size < offsetof(tcp_info, tcpi_last_ack_recv) + sizeof facts.tcpi_last_ack_recv) return false;
  bool asks_in_vain = facts.tcpi_unacked != 0 ? facts.tcpi_retransmits != 0 : facts.tcpi_probes >= kUnanswered;
  return asks_in_vain && facts.tcpi_last_ack_recv >= static_cast<unsigned>(milliseconds);
}

}  // namespace marline::offload::wire
