/* SPDX-License-Identifier: Apache-2.0
 *
 * Random trees of tasks, some for the thread pool (threadset(omp_pool)), against a serial reference. Each node creates
 * children of random kinds: tied or untied, for the team or the pool, independent or ordered by an address, in a
 * taskgroup or not. It waits for them and combines their values; those that are ordered are combined by the children
 * themselves, so that their order is seen. Nodes yield, cancel an inner taskgroup, or open a region of their own.
 * Usage: free_agents_random [trees [first seed]]
 *
 * Covers: omp_is_free_agent, omp_ancestor_is_free_agent, taskyield
 */
#include "../check.h"
#include "pool_task.h"
#include <omp.h>
#include <sched.h>

typedef struct {
  uint64_t seed;
  int depth;
  uint64_t value;
  uint64_t* chain; /* the children that are ordered combine their values here; null: this one is not */
} Node;

enum { kMostChildren = 5 };
static long on_agents, in_team_on_agents;

static uint64_t mix(uint64_t x) { /* splitmix64 (Steele, Lea, Flood, 2014) */
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static int chosen(uint64_t seed, int what, int of) { return (int)(mix(seed ^ (uint64_t)what << 32) % (uint64_t)of); }

static int children_of(const Node* node) { return node->depth == 0 ? 0 : chosen(node->seed, 1, kMostChildren + 1); }

static Node child_of(const Node* node, int i, uint64_t* chain) {
  const uint64_t seed = mix(node->seed + (uint64_t)i);
  Node child = {seed, node->depth - 1, 0, chosen(seed, 2, 3) == 0 ? chain : NULL};
  return child;
}

static uint64_t combined(uint64_t sum, uint64_t value) { return sum * 31 + value; }

static uint64_t serial(Node* node) {
  uint64_t chain = 0, sum = node->seed;
  const int count = children_of(node);
  for (int i = 0; i < count; i++) {
    Node child = child_of(node, i, &chain);
    sum += serial(&child);
  }
  node->value = combined(sum, chain);
  if (node->chain != NULL) *node->chain = combined(*node->chain, node->value);
  return node->value;
}

static void work_a_while(void) {
  for (volatile int i = 0; i < 3000; i++) continue;
}

static void do_nothing(void* count) { __atomic_fetch_add((int*)count, 1, __ATOMIC_RELAXED); }

/* Tasks of a cancelled taskgroup may run or not: all have ended, or will never begin, when it has ended. */
static void cancel_some(void) {
  int ran = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < 3; i++) spawn_task(kTied | kInPool, do_nothing, &ran, 0, NULL);
#pragma omp task
    {
#pragma omp cancel taskgroup
    }
  }
  CHECK_RANGE(ran, 0, 3);
}

static void region_inside(void) {
  int threads = 0, primary = -1, agent = omp_is_free_agent();
#pragma omp parallel num_threads(2)
  {
#pragma omp atomic
    threads++;
    if (omp_get_thread_num() == 0) {
      primary = omp_is_free_agent();
      CHECK_EQ(omp_ancestor_is_free_agent(omp_get_level() - 1), agent);
    } else {
      CHECK_EQ(omp_is_free_agent(), 0);
    }
  }
  CHECK_RANGE(threads, 1, 2);
  CHECK_EQ(primary, agent);
}

static void run_node(void* argument);

static void spawn_child(Node* child, uint64_t* chain) {
  PoolDepend order = {(intptr_t)chain, sizeof *chain, 3};
  const int flags = (chosen(child->seed, 3, 4) != 0 ? kTied : 0) | (chosen(child->seed, 4, 3) != 0 ? kInPool : 0);
  spawn_task(flags, run_node, child, child->chain != NULL, &order);
}

static void run_node(void* argument) {
  Node* node = argument;
  uint64_t chain = 0, sum = node->seed;
  Node children[kMostChildren];
  const int count = children_of(node), grouped = chosen(node->seed, 5, 2);
  if (omp_is_free_agent()) {
    if (omp_get_thread_num() == -2) __atomic_fetch_add(&on_agents, 1, __ATOMIC_RELAXED);
    if (chosen(node->seed, 4, 3) == 0) __atomic_fetch_add(&in_team_on_agents, 1, __ATOMIC_RELAXED);
  } else {
    CHECK_RANGE(omp_get_thread_num(), 0, omp_get_num_threads() - 1);
  }
  if (chosen(node->seed, 10, 4) == 0) work_a_while();
  for (int i = 0; i < count; i++) children[i] = child_of(node, i, &chain);
  if (grouped) {
#pragma omp taskgroup
    for (int i = 0; i < count; i++) spawn_child(&children[i], &chain);
  } else {
    for (int i = 0; i < count; i++) spawn_child(&children[i], &chain);
    if (chosen(node->seed, 6, 4) == 0) {
#pragma omp taskyield
    }
#pragma omp taskwait
  }
  for (int i = 0; i < count; i++) sum += children[i].value;
  if (chosen(node->seed, 7, 60) == 0) cancel_some();
  if (chosen(node->seed, 8, 200) == 0) region_inside();
  node->value = combined(sum, chain);
  if (node->chain != NULL) *node->chain = combined(*node->chain, node->value);
}

static void begin(void* begun) { __atomic_store_n((int*)begun, 1, __ATOMIC_RELEASE); }

/* The creator waits at no scheduling point, so that a free agent runs the task: the tree then begins while one is
 * awake. With OMP_THREADS_RESERVE=free_agent(n) there is one. */
static void wait_for_agent(void) {
  int begun = 0;
  spawn_task(kTied | kInPool, begin, &begun, 0, NULL);
  while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) sched_yield();
#pragma omp taskwait
}

/* The root is in a region, or outside of all regions. */
static uint64_t in_parallel(Node root) {
  if (chosen(root.seed, 9, 4) == 0) {
    if (chosen(root.seed, 10, 4) == 0) wait_for_agent();
    spawn_task(kTied, run_node, &root, 0, NULL);
#pragma omp taskwait
    return root.value;
  }
#pragma omp parallel
#pragma omp single nowait
  {
    if (chosen(root.seed, 10, 20) == 0) wait_for_agent();
    spawn_task(kTied, run_node, &root, 0, NULL);
  }
  return root.value;
}

int main(int argc, char** argv) {
  const int trees = argc > 1 ? atoi(argv[1]) : 100;
  const int first = argc > 2 ? atoi(argv[2]) : 0;
  for (int i = 0; i < trees; i++) {
    Node root = {mix((uint64_t)(first + i)), 4, 0, NULL};
    Node reference = root;
    const uint64_t expected = serial(&reference), actual = in_parallel(root);
    if (actual != expected)
      check_failed(__FILE__, __LINE__, "tree %d: %llx, expected %llx", first + i, (unsigned long long)actual,
                   (unsigned long long)expected);
  }
  CHECK_EQ(in_team_on_agents, 0);
  if (getenv("SHOW") != NULL) printf("%ld tasks on free agents\n", on_agents);
  return 0;
}
