// SPDX-License-Identifier: Apache-2.0
//
// Takes and releases this library's locks around a fork. The runtime (libmarline) takes its own locks after them, as a
// thread that holds one of this library's locks may do, too. That is so because the fork handler that was registered
// first is called last, and libmarline registers its own when it is loaded.
#include "base/forks.hpp"

#include "base/intrusive_list.hpp"
#include "base/report.hpp"

namespace marline::offload {

namespace {

Lock g_lists_lock;  // guards the lists; a fork takes it before all other locks
// All listed locks, one list for each value of ForkOrder. They are static or belong to a device, and stay listed.
constinit IntrusiveList<Lock> g_held[static_cast<int>(ForkOrder::kCount)];
void (*g_in_child)() = nullptr;

template <class Function>
void for_all(Function function) {
  for (const IntrusiveList<Lock>& locks : g_held) {
    for (Lock* lock : locks) function(lock);
  }
}

void before_fork() {
  g_lists_lock.take();
  for_all([](Lock* lock) { lock->take(); });
}

void after_fork() {
  for_all([](Lock* lock) { lock->release(); });
  g_lists_lock.release();
}

void after_fork_in_child() {
  after_fork();
  g_in_child();
}

}  // namespace

void hold_across_forks(Lock& lock, ForkOrder order) {
  Guard guard(g_lists_lock);
  g_held[static_cast<int>(order)].push_first(&lock);
}

void handle_forks(void (*in_child)()) {
  g_in_child = in_child;
  if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0) fatal("no memory for a fork handler");
}

}  // namespace marline::offload
