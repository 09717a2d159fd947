/* SPDX-License-Identifier: Apache-2.0
 *
 * Every meaning of a priority (MARLINE_PRIORITY) on random graphs: all tasks of the graph are ordered after a gate,
 * which opens when the graph is complete, one thread runs it, and at each step the task that runs must have the highest
 * priority of the ready tasks. Which priorities they have is computed here from the definition: a task's own value (the
 * clause's, or 0, or INT_MAX), or what its successors pass on (the same, or one less), whichever is higher. Usage:
 * propagation VALUE PROPAGATION, as in MARLINE_PRIORITY; `sends`: tasks that were seen to send have INT_MAX.
 *
 * Covers: marline priorities, task(priority)
 */
#include "../check.h"
#include <limits.h>
#include <marline/marline.h>
#include <omp.h>
#include <stdatomic.h>

enum { kTasks = 80, kMostPredecessors = 3, kGraphs = 30 };

typedef struct Node {
  int hint, sends;
  int predecessor_count, predecessors[kMostPredecessors]; /* none: the gate */
  int priority, missing, ran;
} Node;

static Node nodes[kTasks];
static char slots[kTasks + 1]; /* the last: the gate's */
static int order[kTasks], ran;
static unsigned state;
static const char *value, *propagation;

static int draw(int below) {
  state = state * 1664525u + 1013904223u;
  return (int)((state >> 8) % (unsigned)below);
}

/* Tasks only depend on older ones, mostly on recent ones. */
static void draw_graph(unsigned seed) {
  state = seed;
  memset(nodes, 0, sizeof nodes);
  for (int i = 0; i < kTasks; i++) {
    Node* node = &nodes[i];
    if (draw(8) == 0) {
      node->hint = draw(4) == 0 ? 0 : 1 + draw(40);
      node->sends = 1;
    }
    int wanted = i < 6 ? 0 : node->sends ? 1 : draw(kMostPredecessors + 1);
    for (int k = 0; k < wanted; k++) {
      int candidate = i - 1 - draw(i < 20 ? i : 20), known = 0;
      for (int j = 0; j < node->predecessor_count; j++) known |= node->predecessors[j] == candidate;
      if (!known) node->predecessors[node->predecessor_count++] = candidate;
    }
  }
}

static int own_value(const Node* node) {
  if (!strcmp(value, "zero")) return 0;
  if (!strcmp(value, "sends")) return node->sends ? INT_MAX : 0;
  if (!strcmp(value, "inf")) return node->hint > 0 ? INT_MAX : 0;
  return node->hint;
}

static void compute_priorities(void) {
  for (int i = 0; i < kTasks; i++) nodes[i].priority = own_value(&nodes[i]);
  if (!strcmp(propagation, "none")) return;
  int step = !strcmp(propagation, "decrement");
  for (int i = kTasks - 1; i >= 0; i--) {
    for (int k = 0; k < nodes[i].predecessor_count; k++) {
      Node* predecessor = &nodes[nodes[i].predecessors[k]];
      if (nodes[i].priority - step > predecessor->priority) predecessor->priority = nodes[i].priority - step;
    }
  }
}

static void body(int i) { order[ran++] = i; }

/* Senders are of a construct of their own, with two dependences each: so they have one profile. */
static void create_sender(const Node* node, int i) {
  int hint = node->hint;
  int from = node->predecessor_count ? node->predecessors[0] : kTasks;
#pragma omp task firstprivate(i) priority(hint) depend(in : slots[from]) depend(out : slots[i])
  {
    marline_task_sends();
    body(i);
  }
}

static void create(const Node* node, int i) {
  if (node->sends) {
    create_sender(node, i);
    return;
  }
  const int* p = node->predecessors;
  switch (node->predecessor_count) {
    case 0:
#pragma omp task firstprivate(i) depend(in : slots[kTasks]) depend(out : slots[i])
      body(i);
      break;
    case 1:
#pragma omp task firstprivate(i) depend(in : slots[p[0]]) depend(out : slots[i])
      body(i);
      break;
    case 2:
#pragma omp task firstprivate(i) depend(in : slots[p[0]], slots[p[1]]) depend(out : slots[i])
      body(i);
      break;
    default:
#pragma omp task firstprivate(i) depend(in : slots[p[0]], slots[p[1]], slots[p[2]]) depend(out : slots[i])
      body(i);
  }
}

/* The gate opens from a progress hook, which is asked when the thread has nothing else to do, and priorities that wait
 * to be passed on are such a thing. */
static omp_event_handle_t gate;
static int polls_left;
static marline_hook_t* hook;

static int poll(void* unused) {
  (void)unused;
  if (polls_left == 0 || --polls_left > 0) return 0;
  omp_fulfill_event(gate);
  marline_progress_add(hook, -1);
  return 1;
}

static void run_graph(void) {
  ran = 0;
  marline_progress_add(hook, 1);
#pragma omp parallel num_threads(1)
  {
    omp_event_handle_t opened;
#pragma omp task detach(opened) depend(out : slots[kTasks])
    {
    }
    for (int i = 0; i < kTasks; i++) create(&nodes[i], i);
    gate = opened;
    polls_left = 500;
  }
  CHECK_EQ(ran, kTasks);
}

static void check_order(unsigned seed) {
  for (int i = 0; i < kTasks; i++) nodes[i].missing = nodes[i].predecessor_count;
  for (int position = 0; position < kTasks; position++) {
    int i = order[position];
    CHECK_EQ(nodes[i].missing, 0);
    for (int other = 0; other < kTasks; other++) {
      if (nodes[other].ran || nodes[other].missing > 0 || nodes[other].priority <= nodes[i].priority) continue;
      check_failed(__FILE__, __LINE__, "graph %u, step %d: task %d of priority %d ran before %d of %d", seed, position,
                   i, nodes[i].priority, other, nodes[other].priority);
    }
    nodes[i].ran = 1;
    for (int other = i + 1; other < kTasks; other++)
      for (int k = 0; k < nodes[other].predecessor_count; k++)
        nodes[other].missing -= nodes[other].predecessors[k] == i;
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 3);
  value = argv[1];
  propagation = argv[2];
  hook = marline_progress_register("gate", poll, NULL);
  if (!strcmp(value, "sends")) { /* one sender runs, so that the next are known */
    draw_graph(1);
#pragma omp parallel num_threads(1)
    {
      Node sender = {.sends = 1, .predecessor_count = 1};
      create_sender(&sender, 1);
    }
  }
  for (unsigned seed = 1; seed <= kGraphs; seed++) {
    draw_graph(seed);
    compute_priorities();
    run_graph();
    check_order(seed);
  }
  marline_progress_unregister(hook);
  return 0;
}
