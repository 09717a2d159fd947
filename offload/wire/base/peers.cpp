// SPDX-License-Identifier: Apache-2.0
//
// Describes this process by its node's name, its system's boot id and namespaces, and its process id.
#include "wire/base/peers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace marline::offload::wire {

namespace {

unsigned namespace_id(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0 ? static_cast<unsigned>(facts.st_ino) : 0;
}

// Containers of one system see neither each other's processes nor each other's sockets, so each counts as a machine.
void describe_machine(Peer& peer) {
  char boot[37] = "";
  int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    ssize_t got = read(file, boot, sizeof boot - 1);
    boot[got > 0 ? got : 0] = '\0';
    close(file);
  }
  std::snprintf(peer.machine, sizeof peer.machine, "%s/%x/%x", boot, namespace_id("/proc/self/ns/pid"),
                namespace_id("/proc/self/ns/net"));
}

}  // namespace

void describe_self(const Job& job, int number, Peer& peer) {
  utsname names;
  if (uname(&names) != 0) std::strcpy(names.nodename, "?");
  std::snprintf(peer.node, sizeof peer.node, "%s", job.nodes != nullptr ? job.nodes[number] : names.nodename);
  describe_machine(peer);
  peer.pid = getpid();
}

bool are_on_one_machine(const Peer& a, const Peer& b) { return std::strcmp(a.machine, b.machine) == 0; }

bool are_on_one_node(const Peer& a, const Peer& b) {
  return std::strcmp(a.node, b.node) == 0 && are_on_one_machine(a, b);
}

}  // namespace marline::offload::wire
