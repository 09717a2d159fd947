/* SPDX-License-Identifier: Apache-2.0
 *
 * The helper threads and their lanes. One mutex protects everything, because these calls take microseconds at least. A
 * Job is on its task's stack. It belongs to the task, except from helper_run's lock until its event is fulfilled.
 */
#include "engine/helpers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "engine/waiting.h"
#include "marline/devices.h"
#include "marline/marline.h"

typedef struct Job {
  struct Job* next; /* in its lane */
  int (*function)(void* arguments);
  void* arguments;
  int result;
  marline_event_t done;
} Job;

/* The calls of one lane. A lane is in its bucket from its first call until it is empty, and in the queue while it
 * has calls and no helper. */
typedef struct Lane {
  struct Lane* next_in_bucket;
  struct Lane* next_waiting;
  HelperLane name;
  Job* first; /* in progress, unless the lane waits; the calls after it follow */
  Job* last;
} Lane;

/* There are as many lanes as objects with a call that has not ended: with 10^5 lanes, a bucket's chain has 100. */
enum { kBuckets = 1024 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t lane_waits = PTHREAD_COND_INITIALIZER; /* signalled once per lane that begins to wait */
static Lane* buckets[kBuckets];
static Lane* waiting;
static Lane** waiting_end = &waiting;
/* There are fewer idle helpers than waiting lanes only if no further helper can be started. */
static int waiting_count;
static int idle_count; /* helpers that wait for a lane, or are about to look for one */
static int helper_count;
static bool ended; /* MPI_Finalize: there will be no more calls */

/* The CPUs on which the process may run, as they were before any worker was bound; null: not known. Written once,
 * while the library is loaded. */
static cpu_set_t* process_cpus;
static size_t process_cpus_bytes;

/* The kernel returns EINVAL while the set is smaller than its own, which has a bit for each CPU that the machine may
 * have. */
__attribute__((constructor)) static void note_cpus(void) {
  enum { kFirst = CPU_SETSIZE, kMost = 1 << 20 };
  int error = EINVAL;
  for (int cpus = kFirst; cpus <= kMost && error == EINVAL; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == NULL) return;
    error = sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0 ? 0 : errno;
    if (error != 0) {
      CPU_FREE(set);
      continue;
    }
    process_cpus = set;
    process_cpus_bytes = CPU_ALLOC_SIZE(cpus);
  }
}

static Lane** bucket_of(const HelperLane* name) {
  /* Fibonacci hashing (Knuth, TAOCP 3, 6.4). */
  const uint64_t value = (uint64_t)name->object + (uint64_t)name->kind * UINT64_C(0xbf58476d1ce4e5b9);
  return &buckets[(value * UINT64_C(0x9e3779b97f4a7c15) >> 32) % kBuckets];
}

static Lane* lane_of(const HelperLane* name) {
  Lane* lane = *bucket_of(name);
  while (lane != NULL && (lane->name.object != name->object || lane->name.kind != name->kind))
    lane = lane->next_in_bucket;
  return lane;
}

static void wait_for_helper(Lane* lane) {
  lane->next_waiting = NULL;
  *waiting_end = lane;
  waiting_end = &lane->next_waiting;
  ++waiting_count;
}

static Lane* take_waiting(void) {
  Lane* lane = waiting;
  waiting = lane->next_waiting;
  if (waiting == NULL) waiting_end = &waiting;
  --waiting_count;
  return lane;
}

/* The lane's first call has ended. Its next call waits until the lanes that wait already have had their turn,
 * because there may be too few helpers. */
static void advance(Lane* lane) {
  lane->first = lane->first->next;
  if (lane->first != NULL) {
    wait_for_helper(lane);
    return;
  }
  Lane** link = bucket_of(&lane->name);
  while (*link != lane) link = &(*link)->next_in_bucket;
  *link = lane->next_in_bucket;
  free(lane);
}

static void start_helpers(void);

static void* helper_main(void* unused) {
  /* By this name `marline ps` knows that the thread does not compute. */
  pthread_setname_np(pthread_self(), "marline/helper");
  if (process_cpus != NULL) /* not the core of the worker that started it: MPI spins in these calls */
    (void)pthread_setaffinity_np(pthread_self(), process_cpus_bytes, process_cpus);
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (waiting == NULL && !ended) pthread_cond_wait(&lane_waits, &mutex);
    --idle_count;
    if (waiting == NULL) break;
    Lane* lane = take_waiting();
    Job* job = lane->first;
    pthread_mutex_unlock(&mutex);
    job->result = job->function(job->arguments);
    pthread_mutex_lock(&mutex);
    advance(lane);
    ++idle_count;
    start_helpers();
    pthread_mutex_unlock(&mutex);
    marline_event_fulfill(&job->done); /* the job may be gone after it */
    pthread_mutex_lock(&mutex);
  }
  --helper_count;
  pthread_mutex_unlock(&mutex);
  return unused;
}

/* Starts one more helper, which is idle. Returns 0, or the error. */
static int add_helper(void) {
  pthread_t thread;
  const int error = helper_count < kMostHelpers ? pthread_create(&thread, NULL, helper_main, NULL) : EAGAIN;
  if (error != 0) return error;
  pthread_detach(thread);
  ++helper_count;
  ++idle_count;
  return 0;
}

/* Warns once for each of the two causes: what helps against the one does not help against the other. */
static void warn(int error) {
  static bool has_warned_of_bound, has_warned_of_system; /* under the mutex */
  static const char kWhatFollows[] =
      "such calls wait for one another, and the job hangs if other ranks make them in another order";
  bool* has_warned = helper_count >= kMostHelpers ? &has_warned_of_bound : &has_warned_of_system;
  if (*has_warned) return;
  *has_warned = true;
  char why[256];
  if (helper_count >= kMostHelpers)
    report_warning(
        "more calls of MPI in tasks at a time than there are helper threads for (%d at most): %s; let fewer "
        "tasks make them at a time",
        kMostHelpers, kWhatFollows);
  else
    report_warning(
        "cannot start another helper thread for calls of MPI in tasks (there are %d, the limit is %d): %s; "
        "%s; or let fewer tasks make such calls at a time",
        helper_count, kMostHelpers, kWhatFollows, marline_describe_refusal(error, 0, why, sizeof why));
}

/* Starts as many helpers as lanes wait for, as far as the system allows. */
static void start_helpers(void) {
  while (waiting_count > idle_count) {
    const int error = add_helper();
    if (error != 0) {
      warn(error);
      return;
    }
  }
}

/* Returns false if there is no helper and none can be started. */
static bool has_helpers(void) {
  const int error = helper_count > 0 ? 0 : add_helper();
  if (error != 0) warn(error);
  return error == 0;
}

static void queue(Job* job, const HelperLane* name) {
  Lane* lane = lane_of(name);
  if (lane != NULL) {
    lane->last->next = job;
    lane->last = job;
    return;
  }
  lane = malloc(sizeof *lane);
  if (lane == NULL) report_fatal("no memory for a call of MPI in a task: let fewer tasks make them at a time");
  Lane** bucket = bucket_of(name);
  *lane = (Lane){.next_in_bucket = *bucket, .name = *name, .first = job, .last = job};
  *bucket = lane;
  wait_for_helper(lane);
  pthread_cond_signal(&lane_waits);
  start_helpers();
}

int helper_run(int (*function)(void* arguments), void* arguments, HelperLane lane, const MpiCall* call) {
  Job job = {.function = function, .arguments = arguments};
  marline_event_init(&job.done);
  pthread_mutex_lock(&mutex);
  const bool is_queued = has_helpers();
  if (is_queued) queue(&job, &lane);
  pthread_mutex_unlock(&mutex);
  if (!is_queued) {
    BLOCKED_IN(call);
    return function(arguments);
  }
  const marline_wait_t wait = waiting_in_unchecked(call); /* its arguments may be wrong, which MPI must report */
  marline_event_wait_for(&job.done, &wait);
  return job.result;
}

void helpers_stop(void) {
  pthread_mutex_lock(&mutex);
  ended = true;
  pthread_cond_broadcast(&lane_waits);
  pthread_mutex_unlock(&mutex);
}
