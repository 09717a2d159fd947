// SPDX-License-Identifier: Apache-2.0
//
// Hands the polling of the wire and the waiting on it between the dispatcher's thread and the first thread.
#include "device/remote/worker/watch.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "base/now.hpp"
#include "device/remote/job/protocol_extension.hpp"
#include "device/remote/worker/wire_use.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace marline::offload::device {

namespace {

const NodeJob* g_wire = nullptr;
// A futex. 0: the dispatcher polls, and the first thread sleeps here. 1: the first thread has to wait on the wire.
std::atomic<uint32_t> g_watch{0};

bool receive() {
  WireUse use;
  return use.is_possible() && g_wire->kind->poll(g_wire->wire) != 0;
}

// The dispatcher is going to sleep: the first thread takes over.
void announce() {
  g_watch.store(1);
  syscall(SYS_futex, &g_watch, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

// While no kernel runs, the dispatcher's thread waits on the wire, so that the next kernel starts on the thread that
// receives it. The first thread then sleeps in a `read` of the timer. When the dispatcher has got work, it sets the
// timer. So a short kernel does not wait until the first thread has been woken, and the first thread takes over during
// a longer kernel. Only the dispatcher sets the timer, and the `read` returns only if the timer's time is over. So the
// first thread sleeps on if the dispatcher waits again before that, and it does not miss a time that is over before it
// sleeps.
constexpr uint64_t kAtWork = 100'000;  // nanoseconds for which the first thread leaves the wire to the dispatcher
std::atomic<bool> g_alone{false};
int g_timer = -1;
Lock g_waits;  // held to wait on the wire, which one thread at a time may do

// With 0, stops the timer. Returns whether it was set before and its time was not over.
bool set_timer(uint64_t nanoseconds) {
  itimerspec time = {}, before = {};
  time.it_value.tv_nsec = static_cast<long>(nanoseconds);
  timerfd_settime(g_timer, 0, &time, &before);
  return before.it_value.tv_nsec != 0;
}

// The first thread waits on the wire for long, or is about to, so other work for it has to end that wait. The first
// thread stores this and then looks for such work. A thread that adds such work calls look_soon() after that, which
// loads this (both seq_cst).
std::atomic<bool> g_waits_long{false};

void wait_for_frames(int milliseconds) {
  if (!g_waits.try_take()) return;  // the dispatcher's thread waits, or is about to stop waiting
  if (!g_alone.load()) g_wire->kind->wait(g_wire->wire, milliseconds);
  g_waits.release();
}

bool wait_alone() {
  WireUse use;
  if (!use.is_possible()) return false;
  // If the first thread may be awake, this ends its wait on the wire.
  if (!g_alone.exchange(true) && !set_timer(0)) g_wire->kind->wake(g_wire->wire);
  Guard guard(g_waits);
  g_wire->kind->wait(g_wire->wire, 1000);
  return true;
}

void resume() {
  if (g_alone.exchange(false)) set_timer(WireUse::has_ended() ? 1 : kAtWork);
}

}  // namespace

void begin_watch(const NodeJob& job) {
  g_wire = &job;
  g_timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  if (g_timer < 0)
    fatal("worker %d: the system gives no timer (%s): is `ulimit -n` too low?", job.number, strerror(errno));
}

WorkSource wire_source(void (*begin)(), bool waits) {
  WorkSource source = {receive, announce, begin};
  if (waits) {
    source.wait = wait_alone;
    source.resume = resume;
  }
  return source;
}

void look_soon() {
  WireUse use;
  if (use.is_possible() && g_waits_long.load()) g_wire->kind->wake(g_wire->wire);
}

// While the dispatcher polls, the first thread sleeps. Now and then it looks whether all threads run kernels.
void watch_wire() {
  constexpr timespec kNap = {0, 100'000};
  bool may_nap = true;
  while (!WireUse::has_ended()) {
    if (g_alone.load()) {
      g_wire->kind->wake(g_wire->wire);  // this thread's last poll may have added work that the dispatcher has not seen
      may_nap = true;
      uint64_t times;
      (void)!::read(g_timer, &times, sizeof times);
      continue;
    }
    if (g_watch.load() == 0 && (may_nap || now() - dispatcher_looked() < kAtWork)) {
      may_nap = false;
      syscall(SYS_futex, &g_watch, FUTEX_WAIT_PRIVATE, 0, &kNap, nullptr, 0);
      continue;
    }
    while (g_wire->kind->poll(g_wire->wire) > 0) {
    }
    g_waits_long.store(true);  // before the next two calls: work that is added after them ends the wait
    run_all(take_other_work());
    bool is_to_look = look_newcomer();
    if (is_to_look) g_waits_long.store(false);
    g_watch.store(0);  // before the next line: an announcement after that is seen at the top of the loop
    may_nap = dispatcher_sleeps();
    if (may_nap || now() - dispatcher_looked() >= kAtWork) wait_for_frames(is_to_look ? 1 : 100);
    g_waits_long.store(false);
    if (may_nap && dispatcher_sleeps()) g_watch.store(1);
  }
}

}  // namespace marline::offload::device
