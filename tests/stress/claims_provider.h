/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that claims target tasks (devices.h) and runs their bodies on plain threads, in the order that follows only
 * from the reports that it gets: a task runs when the claimed tasks that were named to it have run here and the runtime
 * has said that the others have ended. So most tasks run before the runtime says that they are ready, as they would if
 * they had been sent to nodes ahead of time, and a predecessor that is not reported gives a wrong result of the
 * program. The tasks are ended once they are ready, by these threads or by a progress hook. One in seven is left to the
 * runtime when it is ready, and its successors run when it has ended. Every rule of devices.h that can be checked is
 * checked. */
#ifndef MARLINE_CLAIMS_PROVIDER_H
#define MARLINE_CLAIMS_PROVIDER_H

#include "stress.h"

#include <marline/devices.h>

#include <pthread.h>
#include <stdbool.h>

#define RUNNERS 2

typedef struct claim {
  marline_target_task_t task;
  bool ordered, has_others, others_ended, has_run, ready, ended, is_left;
  int waiting;        /* for predecessors that have not run, and 1 for the others */
  struct claim* next; /* in the list of claims that can run, or that can be ended */
  uint64_t* predecessors;
  size_t predecessor_count;
  struct claim** successors;
  size_t successor_count, successor_room;
} claim_t;

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  claim_t** claims; /* by number; NULL: not claimed */
  size_t room;
  claim_t *runnable, *to_end, *to_end_in_hook, *to_leave;
  bool closed, stop; /* closed: nothing runs */
  pthread_t threads[RUNNERS];
  marline_hook_t* hook;
  long claimed, run, skipped, left, ran_early, told_in_graph, raises, cancels, most_under_way, under_way;
  long waits[MARLINE_WAIT_FOR_WORK + 1]; /* by kind */
  bool claims_all;
  /* The iteration that has been reported, of one producer at a time, and the next task's place in it. */
  uint64_t graph, step;
  bool iterates;
  long iterations, graph_tasks, claimed_in_graph;
} provider = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void push(claim_t** list, claim_t* claim) {
  claim->next = *list;
  *list = claim;
  pthread_cond_signal(&provider.changed);
}

static claim_t* pop(claim_t** list) {
  claim_t* claim = *list;
  if (claim != NULL) *list = claim->next;
  return claim;
}

static claim_t* claim_of(uint64_t number) { return number < provider.room ? provider.claims[number] : NULL; }

static void enter(claim_t* claim) {
  if (claim->task.number >= provider.room) {
    size_t room = claim->task.number * 2 + 64;
    provider.claims = realloc(provider.claims, room * sizeof *provider.claims);
    CHECK(provider.claims != NULL, "no memory");
    for (size_t i = provider.room; i < room; ++i) provider.claims[i] = NULL;
    provider.room = room;
  }
  CHECK(provider.claims[claim->task.number] == NULL, "number %lu was given twice", (unsigned long)claim->task.number);
  provider.claims[claim->task.number] = claim;
}

static void check_place(const marline_target_task_t* task) {
  __atomic_fetch_add(&provider.told_in_graph, 1, __ATOMIC_RELAXED);
  if (task->graph == 0) return;
  CHECK(provider.iterates && task->graph == provider.graph && task->step == provider.step,
        "a task of step %lu of graph %lu, expected step %lu of %lu", (unsigned long)task->step,
        (unsigned long)task->graph, (unsigned long)provider.step, (unsigned long)provider.graph);
  ++provider.step;
  ++provider.graph_tasks;
}

/* One in five is not claimed. */
static void* created(const marline_target_task_t* task) {
  CHECK(task->bytes >= sizeof *task && task->number > 0, "what is told has %zu bytes", task->bytes);
  CHECK(task->in_graph || task->graph == 0, "a task of graph %lu is in no graph", (unsigned long)task->graph);
  if (task->in_graph) check_place(task);
  if (!provider.claims_all && task->number % 5 == 0) return NULL;
  if (task->in_graph) __atomic_fetch_add(&provider.claimed_in_graph, 1, __ATOMIC_RELAXED);
  claim_t* claim = calloc(1, sizeof *claim);
  claim->task = *task;
  claim->task.dependences = NULL;
  claim->is_left = task->number % 7 == 3;
  pthread_mutex_lock(&provider.lock);
  enter(claim);
  ++provider.claimed;
  if (++provider.under_way > provider.most_under_way) provider.most_under_way = provider.under_way;
  pthread_mutex_unlock(&provider.lock);
  return claim;
}

static void wait_for(claim_t* claim, claim_t* predecessor) {
  if (predecessor->has_run) return;
  if (predecessor->successor_count == predecessor->successor_room) {
    predecessor->successor_room = predecessor->successor_room * 2 + 4;
    predecessor->successors = realloc(predecessor->successors, predecessor->successor_room * sizeof(claim_t*));
  }
  predecessor->successors[predecessor->successor_count++] = claim;
  ++claim->waiting;
}

static void count_down(claim_t* claim) {
  if (--claim->waiting == 0 && !claim->is_left) push(&provider.runnable, claim);
}

static void ordered(void* data, const uint64_t* numbers, size_t count, size_t others) {
  claim_t* claim = data;
  pthread_mutex_lock(&provider.lock);
  CHECK(!claim->ordered, "told twice what stands before a task");
  claim->ordered = true;
  claim->has_others = others != 0;
  claim->waiting = 1 + (others != 0);
  claim->predecessors = malloc((count + 1) * sizeof *numbers);
  claim->predecessor_count = count;
  for (size_t i = 0; i < count; ++i) {
    claim_t* predecessor = claim_of(numbers[i]);
    CHECK(predecessor != NULL && predecessor != claim, "%lu is not claimed", (unsigned long)numbers[i]);
    claim->predecessors[i] = numbers[i];
    wait_for(claim, predecessor);
  }
  count_down(claim);
  pthread_mutex_unlock(&provider.lock);
}

static void others_ended(void* data) {
  claim_t* claim = data;
  pthread_mutex_lock(&provider.lock);
  CHECK(claim->ordered && claim->has_others && !claim->others_ended && !claim->ready, "no others, or not now");
  claim->others_ended = true;
  count_down(claim);
  pthread_mutex_unlock(&provider.lock);
}

static void ready(void* data) {
  claim_t* claim = data;
  pthread_mutex_lock(&provider.lock);
  CHECK(claim->ordered && !claim->ready && claim->has_others == claim->others_ended, "ready too early");
  for (size_t i = 0; i < claim->predecessor_count; ++i) {
    CHECK(claim_of(claim->predecessors[i])->ended, "ready before its predecessor %zu has been ended", i);
  }
  claim->ready = true;
  if (claim->is_left) push(&provider.to_leave, claim);
  if (claim->has_run) push(&provider.to_end, claim);
  pthread_mutex_unlock(&provider.lock);
}

static void iterates(uint64_t graph, int is_behind) {
  CHECK(graph != 0 && !provider.iterates, "an iteration of graph %lu begins in another one", (unsigned long)graph);
  provider.iterates = true;
  provider.graph = graph;
  provider.step = 0;
  ++provider.iterations;
  if (!is_behind) return;
  pthread_mutex_lock(&provider.lock);
  for (size_t i = 0; i < provider.room; ++i) {
    CHECK(provider.claims[i] == NULL || provider.claims[i]->ended, "task %zu of the iteration before has not ended", i);
  }
  pthread_mutex_unlock(&provider.lock);
}

static void iterated(uint64_t graph) {
  CHECK(provider.iterates && graph == provider.graph, "an iteration of graph %lu has not begun", (unsigned long)graph);
  provider.iterates = false;
}

static void graph_ends(uint64_t graph) {
  CHECK(!provider.iterates && graph != 0, "graph %lu ends in an iteration", (unsigned long)graph);
}

static void waits(marline_wait_kind_t kind) {
  CHECK(kind >= MARLINE_WAIT_TASKWAIT && kind <= MARLINE_WAIT_FOR_WORK, "kind %d", (int)kind);
  __atomic_fetch_add(&provider.waits[kind], 1, __ATOMIC_RELAXED);
}

/* Workers without work still call `waits` after the last region. */
static long waits_told(int kind) { return __atomic_load_n(&provider.waits[kind], __ATOMIC_RELAXED); }

static void raised(uint64_t number, int32_t priority) {
  pthread_mutex_lock(&provider.lock);
  CHECK(claim_of(number) != NULL && priority > 0, "%lu, priority %d", (unsigned long)number, priority);
  ++provider.raises;
  pthread_mutex_unlock(&provider.lock);
}

static void cancels(void) { __atomic_fetch_add(&provider.cancels, 1, __ATOMIC_RELAXED); }

/* Whether the body has run. */
static bool run_body(const claim_t* claim) {
  const marline_target_task_t* task = &claim->task;
  if (marline_claimed_is_cancelled(task->handle)) return false;
  if (task->form == MARLINE_TARGET_ENTRY) task->entry(task->thread, task->block);
  if (task->form == MARLINE_TARGET_REGION) task->function(task->maps.addresses);
  return true;
}

/* Called with the lock, which it releases meanwhile: a call that ends a task may call back. */
static void end_claim(claim_t* claim) {
  claim->ended = true;
  --provider.under_way;
  if (claim->task.number % 3 == 0) {
    push(&provider.to_end_in_hook, claim);
    pthread_mutex_unlock(&provider.lock);
    marline_progress_add(provider.hook, 1);
  } else {
    pthread_mutex_unlock(&provider.lock);
    marline_claimed_end(claim->task.handle);
  }
  pthread_mutex_lock(&provider.lock);
}

static int poll_hook(void* unused) {
  (void)unused;
  int ended = 0;
  pthread_mutex_lock(&provider.lock);
  for (claim_t* claim; (claim = pop(&provider.to_end_in_hook)) != NULL; ++ended) {
    pthread_mutex_unlock(&provider.lock);
    marline_claimed_end(claim->task.handle);
    pthread_mutex_lock(&provider.lock);
  }
  pthread_mutex_unlock(&provider.lock);
  if (ended != 0) marline_progress_add(provider.hook, -ended);
  return ended;
}

static void run_claim(claim_t* claim) {
  pthread_mutex_unlock(&provider.lock);
  bool ran = run_body(claim);
  pthread_mutex_lock(&provider.lock);
  ++*(ran ? &provider.run : &provider.skipped);
  provider.ran_early += !claim->ready;
  claim->has_run = true;
  for (size_t i = 0; i < claim->successor_count; ++i) count_down(claim->successors[i]);
  if (claim->ready) end_claim(claim);
}

/* With the lock. */
static void note_left_ended(claim_t* claim) {
  CHECK(claim->is_left && claim->ready && !claim->ended, "task %lu has ended twice, or was not left",
        (unsigned long)claim->task.number);
  claim->has_run = claim->ended = true;
  --provider.under_way;
  for (size_t i = 0; i < claim->successor_count; ++i) count_down(claim->successors[i]);
}

static void ended(uint64_t number) {
  pthread_mutex_lock(&provider.lock);
  note_left_ended(claim_of(number));
  pthread_mutex_unlock(&provider.lock);
}

/* With the lock, which it gives up meanwhile. */
static void leave_claim(claim_t* claim) {
  marline_claimed_t* handle = claim->task.handle;
  ++provider.left;
  if (claim->task.dependence_count == 0) note_left_ended(claim); /* the runtime does not report its end */
  pthread_mutex_unlock(&provider.lock);
  marline_claimed_run(handle);
  pthread_mutex_lock(&provider.lock);
}

static void* runner(void* unused) {
  (void)unused;
  pthread_mutex_lock(&provider.lock);
  while (!provider.stop) {
    claim_t* claim;
    if ((claim = pop(&provider.to_end)) != NULL) {
      end_claim(claim);
    } else if (!provider.closed && (claim = pop(&provider.to_leave)) != NULL) {
      leave_claim(claim);
    } else if (!provider.closed && (claim = pop(&provider.runnable)) != NULL) {
      run_claim(claim);
    } else {
      pthread_cond_wait(&provider.changed, &provider.lock);
    }
  }
  pthread_mutex_unlock(&provider.lock);
  return NULL;
}

static void provider_start(void) {
  static const marline_target_observer_t observer = {sizeof observer, created,  ordered,  others_ended,
                                                     ready,           waits,    cancels,  raised,
                                                     ended,           iterates, iterated, graph_ends};
  provider.hook = marline_progress_register("claims", poll_hook, NULL);
  for (int i = 0; i < RUNNERS; ++i) pthread_create(&provider.threads[i], NULL, runner, NULL);
  CHECK(marline_target_tasks_observe(&observer) == 0, "no observer can be registered");
  CHECK(marline_target_tasks_observe(&observer) == -1, "a second observer was registered");
}

/* All tasks have ended: forgets all claims. */
static void provider_forget(void) {
  pthread_mutex_lock(&provider.lock);
  for (size_t i = 0; i < provider.room; ++i) {
    claim_t* claim = provider.claims[i];
    if (claim == NULL) continue;
    CHECK(claim->ended, "task %zu was waited for and has not ended", i);
    free(claim->predecessors);
    free(claim->successors);
    free(claim);
    provider.claims[i] = NULL;
  }
  pthread_mutex_unlock(&provider.lock);
}

static void provider_close(bool closed) {
  pthread_mutex_lock(&provider.lock);
  provider.closed = closed;
  pthread_cond_broadcast(&provider.changed);
  pthread_mutex_unlock(&provider.lock);
}

static void provider_stop(void) {
  pthread_mutex_lock(&provider.lock);
  provider.stop = true;
  pthread_cond_broadcast(&provider.changed);
  pthread_mutex_unlock(&provider.lock);
  for (int i = 0; i < RUNNERS; ++i) pthread_join(provider.threads[i], NULL);
}

#endif
