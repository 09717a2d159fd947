// SPDX-License-Identifier: Apache-2.0
//
// See the header. The runtime takes its own locks behind these, as threads do that have one of these: handlers that
// were registered first are called last before a fork, and libmarline has registered its own when it was loaded.
#include "base/forks.hpp"

#include "base/report.hpp"

namespace marline::offload {

namespace {

Lock g_lists_lock;  // over the lists; taken before all others by a fork
constinit Lock* g_first[static_cast<int>(ForkOrder::kCount)] = {};
void (*g_in_child)() = nullptr;

template <class Function>
void for_all(Function function) {
  for (Lock* first : g_first) {
    for (Lock* lock = first; lock != nullptr; lock = lock->next_across_forks) function(lock);
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
  Lock*& first = g_first[static_cast<int>(order)];
  lock.next_across_forks = first;
  first = &lock;
}

void handle_forks(void (*in_child)()) {
  g_in_child = in_child;
  if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0) fatal("no memory for a fork handler");
}

}  // namespace marline::offload
