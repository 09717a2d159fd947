// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "base/packer.hpp"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "file/pack.hpp"
#include "base/recorder.hpp"

namespace marline::trace {
namespace {

enum Phase : uint32_t { kUnstarted, kRunning, kStopping, kOver };

constexpr u64 kMostShare = 100;  // a thread gives at most this part of its time to compression
constexpr u64 kRefusals = 256;   // until it is measured again: less than a thousandth of the time at 1 us per task

constexpr size_t kStackBytes = size_t{1} << 20;

pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;  // taken to start and to stop; never by the packer
Phase phase;                                             // atomic: changed under start_lock
cpu_set_t cores;                                         // constant: what the process was started with
bool cores_known;
pthread_t packer;  // under start_lock
sem_t filled;      // posted for each window that is handed over
Window* queue;     // atomic: pushed by any thread, emptied by the packer
Window* recycled;  // atomic: pushed by any thread, popped by one at a time
bool gave_up;      // the packer's own: the disk is full
Packs of_threads;  // of the thread that holds in_use
bool in_use;       // atomic: taken or not, never waited for
u64 last_ns;       // atomic: what compressing a window has taken last; 0: not known yet
u64 refusals;      // atomic, and not exact: how often that was too long

Phase load_phase() { return __atomic_load_n(&phase, __ATOMIC_RELAXED); }

// Release pairs with the acquire of whoever takes the list: then what the window's owner has stored is seen.
void push(Window*& list, Window& window) {
  window.next = __atomic_load_n(&list, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&list, &window.next, &window, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

// In the order in which they were pushed. Acquire pairs with the release in push.
Window* take_all() {
  Window* newest_first = __atomic_exchange_n(&queue, nullptr, __ATOMIC_ACQUIRE);
  Window* ordered = nullptr;
  while (newest_first != nullptr) {
    Window* next = newest_first->next;
    newest_first->next = ordered;
    ordered = newest_first;
    newest_first = next;
  }
  return ordered;
}

// False, after a line on stderr: the window stays in the file as it is, so nothing is lost.
bool store(Packs& packs, const Window& window) {
  const u64 count = window.used();
  if (count == 0) return true;
  const u64 bytes = packs.append(*window.unit, window.records(), count);
  if (bytes == 0) {
    stop_recording("cannot append to the trace", strerror(errno), "free disk space or set MARLINE_TRACE_DIR");
    return false;
  }
  return count_bytes(bytes);
}

void pack_all(Packs& packs) {
  for (Window* window = take_all(); window != nullptr;) {
    Window* next = window->next;  // another thread may use the window once it is recycled
    gave_up = gave_up || !store(packs, *window);
    if (!gave_up) recycle(*window);
    window = next;
  }
}

void* run(void*) {
  if (cores_known) sched_setaffinity(0, sizeof cores, &cores);
  Packs packs{};
  if (!packs.begin()) return nullptr;
  // Only now: loading libzstd holds the loader's lock, for which the program may wait. Where this priority is not
  // allowed, the packer runs as other threads do.
  const sched_param lowest = {};
  sched_setscheduler(0, SCHED_IDLE, &lowest);
  // The semaphore is posted after the push, and after the phase has changed: a last round finds everything.
  while (load_phase() == kRunning) {
    while (sem_wait(&filled) != 0 && errno == EINTR) {
    }
    pack_all(packs);
  }
  pack_all(packs);
  packs.end();
  return nullptr;
}

// Before the runtime binds this thread to a core, which the packer would inherit.
__attribute__((constructor)) void remember_cores() { cores_known = sched_getaffinity(0, sizeof cores, &cores) == 0; }

bool start_thread() {
  pthread_attr_t attributes;
  sigset_t all;
  sigset_t before;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the program's signals are for its own threads
  const int error = pthread_create(&packer, &attributes, run, nullptr);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) {
    fprintf(stderr, "marline-trace: cannot start a thread that compresses the trace: %s; it stays uncompressed\n",
            strerror(error));
  }
  return error == 0;
}

bool start() {
  pthread_mutex_lock(&start_lock);
  if (phase == kUnstarted) {
    sem_init(&filled, 0, 0);
    __atomic_store_n(&phase, kRunning, __ATOMIC_RELEASE);  // before the thread begins, which ends in any other phase
    if (!start_thread()) __atomic_store_n(&phase, kOver, __ATOMIC_RELAXED);
  }
  const bool running = phase == kRunning;
  pthread_mutex_unlock(&start_lock);
  return running;
}

}  // namespace

bool packs() { return load_phase() <= kRunning; }

bool hand_over(Window& window) {
  // Acquire pairs with the release in start(): the semaphore is there.
  if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != kRunning && !start()) return false;
  push(queue, window);
  sem_post(&filled);
  return true;
}

bool pack_here(const Window& window, u64 ns_to_fill) {
  if (!packs()) return false;
  if (ns_to_fill / kMostShare < __atomic_load_n(&last_ns, __ATOMIC_RELAXED)) {
    // Measured again after some refusals: the first measurement includes page faults. Lost counts do no harm.
    const u64 refused = __atomic_load_n(&refusals, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&refusals, refused, __ATOMIC_RELAXED);
    if (refused % kRefusals != 0) return false;
  }
  // Acquire and release pair with each other: one thread after the other has of_threads.
  if (__atomic_exchange_n(&in_use, true, __ATOMIC_ACQUIRE)) return false;
  bool done = of_threads.begin();
  const u64 before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  done = done && store(of_threads, window);
  const u64 spent = now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
  __atomic_store_n(&last_ns, spent, __ATOMIC_RELAXED);
  __atomic_store_n(&in_use, false, __ATOMIC_RELEASE);
  return done;
}

void recycle(Window& window) { push(recycled, window); }

Window* take_recycled() {
  // Acquire pairs with the release in push. Only one thread pops at a time, so a window that it sees on top cannot have
  // been taken and pushed again in between.
  Window* top = __atomic_load_n(&recycled, __ATOMIC_ACQUIRE);
  while (top != nullptr &&
         !__atomic_compare_exchange_n(&recycled, &top, top->next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
  }
  return top;
}

void stop_packer() {
  pthread_mutex_lock(&start_lock);
  const bool running = phase == kRunning;
  __atomic_store_n(&phase, running ? kStopping : kOver, __ATOMIC_RELAXED);
  if (running) {
    const sched_param normal = {};
    pthread_setschedparam(packer, SCHED_OTHER, &normal);  // the process waits for it now
    sem_post(&filled);
    pthread_join(packer, nullptr);
    __atomic_store_n(&phase, kOver, __ATOMIC_RELAXED);
  }
  // A thread that is compressing goes on; then its group stays as it is.
  if (!__atomic_exchange_n(&in_use, true, __ATOMIC_ACQUIRE)) of_threads.end();
  pthread_mutex_unlock(&start_lock);
}

void forget_packer() {
  phase = kOver;
  queue = nullptr;
  recycled = nullptr;
  in_use = true;  // the group that is mapped goes on growing in the parent: the child must not end it
  pthread_mutex_init(&start_lock, nullptr);
}

}  // namespace marline::trace
