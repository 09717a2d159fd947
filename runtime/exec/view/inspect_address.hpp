// SPDX-License-Identifier: Apache-2.0
//
// Where a process answers `marline ps`: a local socket with the abstract name "marline/PID".
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdio>

namespace marline {

// Returns how many bytes of the address count.
inline socklen_t inspect_address(int process, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "marline/%d", process);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<size_t>(length));
}

}  // namespace marline
