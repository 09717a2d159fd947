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

// Windows that may wait for the packer, which gets no core while others are busy: 4 MiB that are mapped.
constexpr uint32_t kMostWaiting = 64;

constexpr size_t kStackBytes = size_t{1} << 20;

pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;  // taken to start and to stop; never by the packer
Phase phase;                                             // atomic: changed under start_lock
cpu_set_t cores;                                         // constant: what the process was started with
bool cores_known;
pthread_t packer;  // under start_lock
sem_t filled;      // posted for each window that is handed over
Window* queue;     // atomic: pushed by any thread, emptied by the packer, or by stop_packer
Window* taken;     // atomic: what the packer has emptied, but for the window in hand; stop_packer may take it
uint32_t waiting;  // atomic, and not exact: windows that have been handed over and not compressed
Window* recycled;  // atomic: pushed by any thread, popped by one at a time
bool gave_up;      // atomic: the disk is full
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
Window* take_queue() {
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

// A window that has been handed over.
void pack(Packs& packs, Window& window) {
  if (!__atomic_load_n(&gave_up, __ATOMIC_RELAXED) && store(packs, window)) {
    recycle(window);
  } else {
    __atomic_store_n(&gave_up, true, __ATOMIC_RELAXED);
    window.forget();
  }
  __atomic_fetch_sub(&waiting, 1, __ATOMIC_RELAXED);
}

void pack_all(Packs& packs, Window* window) {
  while (window != nullptr) {
    Window* next = window->next;  // another thread may use the window once it is recycled
    pack(packs, *window);
    window = next;
  }
}

// The packer's round. One window at a time, so that stop_packer may take the others.
void pack_in_turn(Packs& packs) {
  for (;;) {
    // Acquire and release pair with each other, here and in stop_packer: a list has one owner.
    Window* window = __atomic_exchange_n(&taken, nullptr, __ATOMIC_ACQUIRE);
    if (window == nullptr) window = take_queue();
    if (window == nullptr) return;
    __atomic_store_n(&taken, window->next, __ATOMIC_RELEASE);
    pack(packs, *window);
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
    pack_in_turn(packs);
  }
  pack_in_turn(packs);
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

// False: another thread compresses at the moment, or the disk is full.
bool pack_by_caller(const Window& window) {
  // Acquire and release pair with each other: one thread after the other has of_threads.
  if (__atomic_exchange_n(&in_use, true, __ATOMIC_ACQUIRE)) return false;
  const bool done = of_threads.begin() && store(of_threads, window);
  __atomic_store_n(&in_use, false, __ATOMIC_RELEASE);
  return done;
}

// What waits for the packer, but for the window in hand. Nothing, if a thread compresses at this moment.
void take_from_packer() {
  if (__atomic_exchange_n(&in_use, true, __ATOMIC_ACQUIRE)) return;
  if (of_threads.begin()) {
    pack_all(of_threads, __atomic_exchange_n(&taken, nullptr, __ATOMIC_ACQUIRE));
    pack_all(of_threads, take_queue());
  }
  __atomic_store_n(&in_use, false, __ATOMIC_RELEASE);
}

}  // namespace

bool packs() { return load_phase() <= kRunning; }

bool hand_over(Window& window) {
  // Acquire pairs with the release in start(): the semaphore is there.
  if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) != kRunning && !start()) return false;
  if (__atomic_load_n(&waiting, __ATOMIC_RELAXED) >= kMostWaiting) {
    if (!pack_by_caller(window)) return false;
    recycle(window);
    return true;
  }
  __atomic_fetch_add(&waiting, 1, __ATOMIC_RELAXED);
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
  const u64 before = now_ns(CLOCK_THREAD_CPUTIME_ID);
  if (!pack_by_caller(window)) return false;
  __atomic_store_n(&last_ns, now_ns(CLOCK_THREAD_CPUTIME_ID) - before, __ATOMIC_RELAXED);
  return true;
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
    take_from_packer();
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
  taken = nullptr;
  waiting = 0;
  recycled = nullptr;
  in_use = true;  // the group that is mapped goes on growing in the parent: the child must not end it
  pthread_mutex_init(&start_lock, nullptr);
}

}  // namespace marline::trace
