/* SPDX-License-Identifier: Apache-2.0
 *
 * Random task graphs against a sequential model. Each task names one to five of a few addresses, each with a random
 * kind. While the graph is created, the model notes per address how many reads and writes precede the task; when the
 * task runs, these must have ended, and until it ends no conflicting access may. Built with HAVE_INOUTSET the graphs
 * contain inoutset too. Usage: depend_random [graphs [first seed]]
 *
 * Covers: task(firstprivate, depend:in/out/inout/mutexinoutset/iterator), taskyield
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

enum { kAddresses = 24, kTasks = 1200, kMaxDeps = 5 };
typedef enum { kIn, kOut, kInout, kMutex, kSet, kKinds } Kind;

/* Run-time side: what has happened to an address so far. Creator's side: what was promised to happen. */
typedef struct {
  long reads, writes, value;
  int active_readers, active_writers, active_set;
  long planned_reads, planned_writes, planned_value, set_reads, set_writes;
  Kind last;
} Address;

typedef struct {
  int address;
  Kind kind;
  long reads, writes; /* accesses that must have ended before this one */
} Access;

typedef struct {
  int id, count;
  Access access[kMaxDeps];
} Plan;

static Address addresses[kAddresses];
static int ran;

static uint64_t next_random(uint64_t* state) { /* xorshift64* (Vigna, 2016) */
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 2685821657736338717ULL;
}

static long ordered_value(long old, int id) { return (long)((unsigned long)old * 31 + (unsigned long)id); }

/* Appends the access to the model's sequential history and tells the task what to expect. */
static void plan_access(Access* access, int id) {
  Address* a = &addresses[access->address];
  int set_kind = access->kind == kMutex || access->kind == kSet;
  if (!set_kind || a->last != access->kind) { /* a set begins: its members share their predecessors */
    a->set_reads = a->planned_reads;
    a->set_writes = a->planned_writes;
  }
  access->reads = access->kind == kIn ? 0 : a->set_reads;
  access->writes = a->set_writes;
  if (access->kind == kIn) {
    a->planned_reads++;
  } else {
    a->planned_writes++;
    a->planned_value = set_kind ? a->planned_value + id : ordered_value(a->planned_value, id);
  }
  a->last = access->kind;
}

static Plan make_plan(int id, uint64_t* random, int kinds) {
  Plan plan = {id, 0, {{0, kIn, 0, 0}}};
  int wanted = 1 + (int)(next_random(random) % kMaxDeps);
  unsigned used = 0;
  while (plan.count < wanted) {
    int address = (int)(next_random(random) % kAddresses);
    if (used & 1u << address) continue;
    used |= 1u << address;
    /* Runs of one kind on one address make sets that are worth the name. */
    Kind kind = next_random(random) % 3 ? addresses[address].last : (Kind)(next_random(random) % (unsigned)kinds);
    plan.access[plan.count] = (Access){address, kind, 0, 0};
    plan_access(&plan.access[plan.count], id);
    plan.count++;
  }
  return plan;
}

static void enter(const Access* access) {
  Address* a = &addresses[access->address];
  long reads = __atomic_load_n(&a->reads, __ATOMIC_RELAXED), writes = __atomic_load_n(&a->writes, __ATOMIC_RELAXED);
  CHECK(reads >= access->reads);
  CHECK(writes >= access->writes);
  if (access->kind != kMutex && access->kind != kSet) CHECK_EQ(writes, access->writes);
  if (access->kind == kOut || access->kind == kInout) CHECK_EQ(reads, access->reads);
  if (access->kind == kIn) {
    __atomic_add_fetch(&a->active_readers, 1, __ATOMIC_RELAXED);
  } else if (access->kind == kSet) {
    __atomic_add_fetch(&a->active_set, 1, __ATOMIC_RELAXED);
  } else {
    CHECK_EQ(__atomic_fetch_add(&a->active_writers, 1, __ATOMIC_RELAXED), 0);
    CHECK_EQ(__atomic_load_n(&a->active_set, __ATOMIC_RELAXED), 0);
  }
  if (access->kind != kIn) CHECK_EQ(__atomic_load_n(&a->active_readers, __ATOMIC_RELAXED), 0);
}

static void leave(const Access* access, int id) {
  Address* a = &addresses[access->address];
  if (access->kind == kIn) {
    CHECK_EQ(__atomic_load_n(&a->writes, __ATOMIC_RELAXED), access->writes);
    __atomic_sub_fetch(&a->active_readers, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&a->reads, 1, __ATOMIC_RELAXED);
    return;
  }
  if (access->kind == kSet) {
    __atomic_add_fetch(&a->value, id, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&a->active_set, 1, __ATOMIC_RELAXED);
  } else {
    a->value = access->kind == kMutex ? a->value + id : ordered_value(a->value, id);
    CHECK_EQ(__atomic_fetch_sub(&a->active_writers, 1, __ATOMIC_RELAXED), 1);
  }
  __atomic_add_fetch(&a->writes, 1, __ATOMIC_RELAXED);
}

static void body(const Plan* plan) {
  for (int d = 0; d < plan->count; d++) enter(&plan->access[d]);
  if (plan->id % 7 == 0) {
#pragma omp taskyield
  }
  for (int d = 0; d < plan->count; d++) leave(&plan->access[d], plan->id);
#pragma omp atomic
  ran++;
}

static int collect(const Plan* plan, Kind kind, int* list) {
  int n = 0;
  for (int d = 0; d < plan->count; d++)
    if (plan->access[d].kind == kind) list[n++] = plan->access[d].address;
  return n;
}

#ifdef HAVE_INOUTSET
#define INOUTSET_CLAUSE depend(iterator(i = 0 : n[kSet]), inoutset : addresses[l[kSet][i]])
#define KINDS kKinds
#else
#define INOUTSET_CLAUSE
#define KINDS kSet
#endif
#define STRING(...) #__VA_ARGS__
#define OMP(...) _Pragma(STRING(__VA_ARGS__))

static void create(Plan plan, int untied) {
  int l[kKinds][kMaxDeps], n[kKinds]; /* per kind: the addresses named with it, and how many */
  for (int kind = 0; kind < kKinds; kind++) n[kind] = collect(&plan, (Kind)kind, l[kind]);
  (void)n; /* Clang 14 does not see the use in an iterator */
#define GRAPH_TASK(...)                                                                                         \
  OMP(omp task __VA_ARGS__ firstprivate(plan) depend(iterator(i = 0 : n[kIn]), in : addresses[l[kIn][i]])       \
          depend(iterator(i = 0 : n[kOut]), out : addresses[l[kOut][i]])                                        \
              depend(iterator(i = 0 : n[kInout]), inout : addresses[l[kInout][i]])                              \
                  depend(iterator(i = 0 : n[kMutex]), mutexinoutset : addresses[l[kMutex][i]]) INOUTSET_CLAUSE) \
  body(&plan)
  if (untied) {
    GRAPH_TASK(untied);
  } else {
    GRAPH_TASK();
  }
}

static void run_graph(uint64_t seed) {
  uint64_t random = seed * 0x9e3779b97f4a7c15ULL + 1;
  memset(addresses, 0, sizeof addresses);
  ran = 0;
#pragma omp parallel
#pragma omp single
  for (int id = 1; id <= kTasks; id++) create(make_plan(id, &random, KINDS), next_random(&random) % 2 == 0);
  CHECK_EQ(ran, kTasks);
  for (int i = 0; i < kAddresses; i++) {
    CHECK_EQ(addresses[i].reads, addresses[i].planned_reads);
    CHECK_EQ(addresses[i].writes, addresses[i].planned_writes);
    CHECK_EQ(addresses[i].value, addresses[i].planned_value);
  }
}

int main(int argc, char** argv) {
  int graphs = argc > 1 ? atoi(argv[1]) : 25, first = argc > 2 ? atoi(argv[2]) : 1;
  for (int g = 0; g < graphs; g++) {
    if (argc > 2) printf("seed %d\n", first + g);
    run_graph((uint64_t)(first + g));
  }
  return 0;
}
