/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs under MARLINE_TASK_CONSTRAINT=strict, judged by the task scheduling constraint itself (OpenMP 5.2,
 * section 12.9): where a tied task starts, it descends from every tied task that has begun on this thread, has not
 * ended and is not in a barrier. The thread that opens a region starts a tied task, too: the region's implicit one.
 *
 * Each thread keeps its own list of such tasks, and the program its own tree of tasks: the runtime is not asked. Every
 * program ends, whatever the schedule: each wait is for descendants. A program that hangs is ended, and its number is
 * printed.
 *
 * Usage: strict SEED ROUNDS. Program i of seed s is the same as program 0 of seed s + i. */
#include "stress.h"

#include <omp.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { kDepth = 5, kMostRegionLevels = 3, kMostTasks = 400, kPatience = 500 /* seconds */ };

typedef struct Node {
  struct Node* parent;
  struct Node* next;   /* in its thread's list */
  int in_barrier;      /* only its thread uses it */
  int levels;          /* regions around */
  atomic_int finished; /* children */
  int created;         /* children; only its own task uses it */
} Node;

/* The tied tasks that have begun on the thread. */
static __thread Node* tied_here;

/* Not inlined: a task may be on another thread after each scheduling point. */
static __attribute__((noinline)) Node** list_of_thread(void) {
  __asm__ volatile("");
  return &tied_here;
}

static volatile unsigned long long current_program;
static atomic_int tasks;

static int descends_from(const Node* node, const Node* ancestor) {
  while (node != NULL && node != ancestor) node = node->parent;
  return node != NULL;
}

static void start_tied(Node* node, const char* what) {
  Node** list = list_of_thread();
  for (const Node* other = *list; other != NULL; other = other->next) {
    CHECK(other->in_barrier || descends_from(node->parent, other),
          "program %llu: %s starts over a tied task that it does not descend from", current_program, what);
  }
  node->next = *list;
  *list = node;
}

static void end_tied(Node* node) {
  Node** link = list_of_thread();
  while (*link != NULL && *link != node) link = &(*link)->next;
  CHECK(*link == node, "program %llu: a tied task ends on another thread than it began on", current_program);
  *link = node->next;
}

static Node* create(Node* parent, int levels) {
  Node* node = calloc(1, sizeof *node);
  CHECK(node != NULL, "out of memory");
  node->parent = parent;
  node->levels = levels;
  return node;
}

/* Nodes live as long as the program: other tasks may still look at their descendants. */
static void yield_some(int times) {
  for (int i = 0; i < times; ++i) {
#pragma omp taskyield
  }
}

static void act(Node* self, uint64_t seed, int depth);

static void run_task(Node* self, uint64_t seed, int depth, int tied) {
  Node* parent = self->parent;
  if (tied) start_tied(self, "a task");
  act(self, seed, depth);
  if (tied) end_tied(self);
  atomic_fetch_add(&parent->finished, 1);
}

static void spawn(Node* self, uint64_t seed, int depth) {
  if (depth == 0 || atomic_fetch_add(&tasks, 1) >= kMostTasks) return;
  Node* child = create(self, self->levels);
  ++self->created;
  int now = seed % 5 == 0, last = seed % 11 == 0;
  if (seed % 3 == 0) {
#pragma omp task untied if (!now) final(last) firstprivate(child, seed, depth)
    run_task(child, seed, depth - 1, 0);
  } else {
#pragma omp task if (!now) final(last) firstprivate(child, seed, depth)
    run_task(child, seed, depth - 1, 1);
  }
}

static void wait_for_children(Node* self) {
#pragma omp taskwait
  CHECK(atomic_load(&self->finished) == self->created, "program %llu: taskwait saw %d of %d children", current_program,
        atomic_load(&self->finished), self->created);
}

static void open_region(Node* self, uint64_t seed, int depth) {
  if (depth == 0 || self->levels == kMostRegionLevels) return;
  int threads = 1 + (int)(seed % 3);
  int with_barrier = seed % 4 == 0;
  Node* first = create(self, self->levels + 1);
#pragma omp parallel num_threads(threads)
  {
    int number = omp_get_thread_num();
    Node* node = number == 0 ? first : create(self, self->levels + 1);
    start_tied(node, "a region");
    act(node, seed + 77 * (uint64_t)number, depth - 1);
    if (with_barrier) {
      node->in_barrier = 1;
#pragma omp barrier
      node->in_barrier = 0;
      act(node, seed + 99 * (uint64_t)number, depth - 1);
    }
    if (number == 0) {
      node->in_barrier = 1; /* the region's own barrier: until the region has ended */
    } else {
      end_tied(node); /* a thread of the pool: its list is not read before its next region */
    }
  }
  end_tied(first);
}

static void act(Node* self, uint64_t seed, int depth) {
  uint64_t state = seed * 2 + 1;
  int steps = 1 + below(&state, 5);
  for (int i = 0; i < steps; ++i) {
    uint64_t key = next_random(&state) >> 1;
    switch (below(&state, 8)) {
      case 0:
      case 1:
      case 2: spawn(self, key, depth); break;
      case 3: yield_some(1 + (int)(key % 4)); break;
      case 4: wait_for_children(self); break;
      case 5:
#pragma omp taskgroup
        spawn(self, key, depth);
        break;
      default: open_region(self, key, depth);
    }
  }
  if (seed % 2 == 0) wait_for_children(self);
}

static void tell_hang(int signal_number) {
  (void)signal_number;
  char text[64], *end = text + sizeof text;
  *--end = '\n';
  unsigned long long number = current_program;
  do *--end = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  static const char what[] = "hangs: program ";
  if (write(2, what, sizeof what - 1) < 0 || write(2, end, (size_t)(text + sizeof text - end)) < 0) _exit(2);
  _exit(1);
}

int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 20);
  omp_set_max_active_levels(kMostRegionLevels + 1);
  signal(SIGALRM, tell_hang);
  for (uint64_t round = 0; round < rounds; ++round) {
    current_program = seed + round;
    atomic_store(&tasks, 0);
    alarm(kPatience);
    uint64_t state = seed + round;
    uint64_t key = next_random(&state);
    Node* root = create(NULL, 0);
#pragma omp parallel
    {
      Node* node = create(root, 1);
      start_tied(node, "a region");
#pragma omp single nowait
      for (int i = 0; i < 4; ++i) spawn(node, next_random(&state), kDepth);
      act(node, key + (uint64_t)omp_get_thread_num(), kDepth - 1);
      end_tied(node);
    }
  }
  return 0;
}
