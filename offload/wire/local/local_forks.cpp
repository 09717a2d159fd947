// SPDX-License-Identifier: Apache-2.0
//
// Closes the files of the wires in forked children. The lock is held across a fork, so the child finds a consistent
// list. If a link's socket is being closed at that moment, it is in the child either closed or no longer of use.
#include "wire/local/local_meet.hpp"

#include "base/intrusive_list.hpp"

#include <pthread.h>
#include <unistd.h>

namespace marline::offload::wire {

namespace {

constinit Lock g_lock;             // protects g_wires and g_handles_forks
IntrusiveList<LocalWire> g_wires;  // one per job of this process
bool g_handles_forks = false;

void close_files_of(LocalWire* wire) {
  close(wire->sockets);
  close(wire->bell_file);
  for (int i = 0; i < wire->count; ++i) {
    Transport& t = wire->links[i].transport;
    if (int socket = t.socket.load(std::memory_order_relaxed); socket >= 0) close(socket);
    if (t.bell_file >= 0) close(t.bell_file);
  }
}

void before_fork() { g_lock.take(); }
void after_fork() { g_lock.release(); }

void after_fork_in_child() {
  for (LocalWire* wire : g_wires.take_all()) close_files_of(wire);
  g_lock.release();
}

}  // namespace

void remember_local_wire(LocalWire* wire) {
  Guard guard(g_lock);
  if (!g_handles_forks) pthread_atfork(before_fork, after_fork, after_fork_in_child);
  g_handles_forks = true;
  g_wires.push_first(wire);
}

void forget_local_wire(LocalWire* wire) {
  Guard guard(g_lock);
  for (LocalWire* known : g_wires) {
    if (known == wire) return g_wires.remove(wire);
  }
}

}  // namespace marline::offload::wire
