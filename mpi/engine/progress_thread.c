/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress thread. Sleep and wake: the thread announces that it sleeps, and then looks for work once more; a thread
 * that gives it work first stores the work, and then reads the announcement. All four accesses are seq_cst, so at least
 * one of the two threads sees the other's store.
 */
#include "engine/progress_thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/inside.h"
#include "base/report.h"
#include "engine/counters.h"
#include "engine/gate.h"
#include "marline/devices.h"

enum {
  kPatience = 64,     /* rounds in vain before the core is offered to other threads */
  kIdleRounds = 2000, /* rounds with nothing to do before the thread sleeps */
  kRestPart = 32,     /* part of the time in vain for which the thread then sleeps between rounds: 50 to 200 us */
  kShortestRest = 50 * 1000,
  kLongestRest = 200 * 1000,
};

/* Is on the stack of the thread that waits for it. */
typedef struct Job {
  struct Job* next;
  void (*function)(void* arguments);
  void* arguments;
  Gate done;
} Job;

static int (*poll_operations)(void*); /* written before the thread starts */
static _Atomic int open_operations;   /* written by any thread, read by the progress thread */
static _Atomic(Job*) jobs;            /* newest first; any thread pushes, the progress thread takes all */
static _Atomic bool stopped;          /* written by progress_thread_stop, read by the progress thread */
static _Atomic uint32_t asleep;       /* futex: 1 from the thread's announcement until a thread resets it */
static pthread_t thread;
static __thread bool is_me;

static bool has_work(void) {
  return atomic_load(&open_operations) > 0 || atomic_load(&jobs) != NULL || atomic_load(&stopped);
}

static void sleep_until_needed(void) {
  atomic_store(&asleep, 1);
  if (has_work()) atomic_store(&asleep, 0);
  while (atomic_load(&asleep) == 1) futex_wait(&asleep, 1);
}

/* Since when the rounds have been in vain, with how many operations, and how many rounds since the thread slept. */
typedef struct Vain {
  int64_t since;
  int operations;
  int rounds;
} Vain;

/* Rests after a round in vain: the process for which the thread waits may want this core. The runtime's idle poller
 * does the same, for the reasons in runtime/exec/worker/schedule_loop.cpp, rest_between_polls. A job, or another
 * operation, ends the rest. */
static void rest(Vain* vain) {
  const int64_t now = (int64_t)counters_clock();
  const int operations = atomic_load_explicit(&open_operations, memory_order_relaxed);
  if (vain->since == 0 || operations != vain->operations) *vain = (Vain){.since = now, .operations = operations};
  const int64_t nanoseconds = (now - vain->since) / kRestPart;
  if (nanoseconds < kShortestRest || ++vain->rounds <= 16 + operations / 32) {
    sched_yield();
    return;
  }
  atomic_store(&asleep, 1);
  if (atomic_load(&open_operations) == operations && atomic_load(&jobs) == NULL && !atomic_load(&stopped))
    futex_wait_for(&asleep, 1, nanoseconds < kLongestRest ? (uint32_t)nanoseconds : kLongestRest);
  atomic_store(&asleep, 0);
  vain->rounds = 0;
}

static void wake(void) {
  if (atomic_load(&asleep) == 0) return;
  atomic_store(&asleep, 0);
  futex_wake(&asleep);
}

/* Runs the jobs that are there, oldest first. Returns false if there are none. */
static bool run_jobs(void) {
  if (atomic_load_explicit(&jobs, memory_order_relaxed) == NULL) return false;
  /* Acquire: pairs with the push. */
  Job* newest = atomic_exchange_explicit(&jobs, NULL, memory_order_acquire);
  Job* oldest = NULL;
  while (newest != NULL) {
    Job* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  while (oldest != NULL) {
    Job* next = oldest->next;
    oldest->function(oldest->arguments);
    gate_open(&oldest->done); /* the job may be gone after it */
    oldest = next;
  }
  return true;
}

static bool poll_once(void) {
  if (atomic_load_explicit(&open_operations, memory_order_relaxed) <= 0) return false;
  INSIDE_MPI; /* as Marline calls a progress hook: the program's callbacks may use OpenMP */
  return poll_operations(NULL) > 0;
}

static void* run(void* unused) {
  is_me = true;
  int in_vain = 0;
  Vain vain = {0};
  while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
    const bool ran = run_jobs();
    if (poll_once() || ran) {
      in_vain = 0;
    } else if (in_vain < kPatience) {
      ++in_vain;
      spin_pause();
      vain.since = 0;
    } else if (atomic_load_explicit(&open_operations, memory_order_relaxed) > 0) {
      rest(&vain);
    } else if (in_vain < kIdleRounds) {
      ++in_vain;
      sched_yield();
    } else {
      sleep_until_needed();
      in_vain = 0;
    }
  }
  return unused;
}

void progress_thread_start(int (*poll)(void*)) {
  poll_operations = poll;
  const int error = pthread_create(&thread, NULL, run, NULL);
  char why[256];
  if (error != 0)
    report_fatal("cannot start the thread that makes calls of MPI: %s",
                 marline_describe_refusal(error, 0, why, sizeof why));
  pthread_setname_np(thread, "marline/mpi");
}

void progress_thread_add(int n) {
  atomic_fetch_add(&open_operations, n);
  if (n > 0) wake();
}

void progress_thread_run(void (*function)(void* arguments), void* arguments) {
  Job job = {.function = function, .arguments = arguments};
  job.next = atomic_load_explicit(&jobs, memory_order_relaxed);
  while (!atomic_compare_exchange_weak(&jobs, &job.next, &job)) {
  }
  wake();
  gate_wait(&job.done);
}

bool progress_thread_is_me(void) { return is_me; }

void progress_thread_stop(void) {
  atomic_store(&stopped, true);
  wake();
  pthread_join(thread, NULL);
}
