/* SPDX-License-Identifier: Apache-2.0
 *
 * The helper threads and their lanes. See helpers.h. One mutex guards everything: these calls take microseconds at best.
 * A Job is its task's, on the task's stack, but from helper_run's lock until its event is fulfilled.
 */
#include "helpers.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "marline/marline.h"
#include "report.h"
#include "waiting.h"

typedef struct Job {
  struct Job *next; /* in its lane */
  int (*function)(void *arguments);
  void *arguments;
  HelperLane lane;
  int result;
  marline_event_t done;
} Job;

typedef struct Helper {
  struct Helper *next; /* of those that are idle, or of those that are busy */
  pthread_cond_t wake;
  Job *first; /* of its lane: the one that it runs, then those behind it; NULL: idle */
  Job *last;
} Helper;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Helper *idle_helpers;
static Helper *busy_helpers;
static int helper_count;
static bool ended; /* MPI_Finalize: there will be no more calls */

static bool same_lane(const HelperLane *a, const HelperLane *b)
{
  return a->object == b->object && a->kind == b->kind;
}

static void remove_from(Helper **list, const Helper *helper)
{
  while (*list != helper)
    list = &(*list)->next;
  *list = helper->next;
}

static void move(Helper **from, Helper **to, Helper *helper)
{
  remove_from(from, helper);
  helper->next = *to;
  *to = helper;
}

/* Where the process may run, as it was before any worker was bound. Written once, while the library is loaded. */
static cpu_set_t process_cpus;
static bool knows_cpus;

__attribute__((constructor)) static void note_cpus(void)
{
  knows_cpus = sched_getaffinity(0, sizeof process_cpus, &process_cpus) == 0;
}

static void *helper_main(void *self)
{
  Helper *helper = self;
  pthread_setname_np(pthread_self(), "marline/helper"); /* `marline ps` knows by it that it does not compute */
  if (knows_cpus) /* not the core of the worker that happened to start it: MPI spins in these calls */
    (void)pthread_setaffinity_np(pthread_self(), sizeof process_cpus, &process_cpus);
  pthread_mutex_lock(&mutex);
  for (;;) {
    while (helper->first == NULL && !ended)
      pthread_cond_wait(&helper->wake, &mutex);
    if (helper->first == NULL)
      break;
    Job *job = helper->first;
    pthread_mutex_unlock(&mutex);
    job->result = job->function(job->arguments);
    pthread_mutex_lock(&mutex);
    helper->first = job->next;
    if (helper->first == NULL)
      move(&busy_helpers, &idle_helpers, helper);
    pthread_mutex_unlock(&mutex);
    marline_event_fulfill(&job->done); /* the job may be gone after it */
    pthread_mutex_lock(&mutex);
  }
  pthread_mutex_unlock(&mutex);
  return NULL; /* its Helper stays in the list */
}

/* A new helper, idle. */
static void add_helper(const MpiCall *call)
{
  if (helper_count == kMostHelpers)
    report_fatal("%s in a task: %d such calls, on as many communicators, windows and files, are in progress, which is "
                 "the limit: let fewer tasks make them at a time", call->name, kMostHelpers);
  Helper *helper = calloc(1, sizeof *helper);
  pthread_t thread;
  const int error = helper == NULL ? 0 : pthread_cond_init(&helper->wake, NULL);
  if (helper == NULL || error != 0 || pthread_create(&thread, NULL, helper_main, helper) != 0)
    report_fatal("%s in a task: cannot start a helper thread for it (there are %d): raise the limits on processes or "
                 "memory (ulimit -u, -v)", call->name, helper_count);
  pthread_detach(thread);
  ++helper_count;
  helper->next = idle_helpers;
  idle_helpers = helper;
}

static void queue(Job *job, const MpiCall *call)
{
  for (Helper *helper = busy_helpers; helper != NULL; helper = helper->next) {
    if (same_lane(&helper->first->lane, &job->lane)) {
      helper->last->next = job;
      helper->last = job;
      return;
    }
  }
  if (idle_helpers == NULL)
    add_helper(call);
  Helper *helper = idle_helpers;
  helper->first = job;
  helper->last = job;
  move(&idle_helpers, &busy_helpers, helper);
  pthread_cond_signal(&helper->wake);
}

int helper_run(int (*function)(void *arguments), void *arguments, HelperLane lane, const MpiCall *call)
{
  Job job = {.function = function, .arguments = arguments, .lane = lane};
  marline_event_init(&job.done);
  pthread_mutex_lock(&mutex);
  queue(&job, call);
  pthread_mutex_unlock(&mutex);
  const marline_wait_t wait = waiting_in_unchecked(call); /* its arguments may be wrong, which is for MPI to say */
  marline_event_wait_for(&job.done, &wait);
  return job.result;
}

void helpers_stop(void)
{
  pthread_mutex_lock(&mutex);
  ended = true;
  for (Helper *helper = idle_helpers; helper != NULL; helper = helper->next)
    pthread_cond_signal(&helper->wake);
  pthread_mutex_unlock(&mutex);
}
