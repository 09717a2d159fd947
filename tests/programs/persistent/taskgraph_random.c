/* SPDX-License-Identifier: Apache-2.0
 *
 * Random taskgraph regions, called as LLVM is about to call them, against the same program run serially. A region is a
 * tree of constructs: tasks with random dependences (replayable or not, undeferred, with children, or with a taskgraph
 * of their own), taskwaits, taskgroups, reductions, taskloops, and taskgraphs inside. It is encountered several times,
 * with other data and firstprivate values each time, from several tasks at once, now and then with other tasks, with
 * graph_reset, nogroup or a false if clause. Each encounter leaves the same data as the serial run.
 *
 * Arguments: number of programs, first seed. Without arguments 1,000 programs, or 100,000 with MARLINE_EXHAUSTIVE=1.
 *
 * Covers: marline persistent graphs
 */
#include "../check.h"
#include "llvm_taskgraph.h"

#include <omp.h>

#if defined(__SANITIZE_THREAD__)
enum { kPrograms = 60 };
#else
enum { kPrograms = 1000 };
#endif
enum { kVars = 6, kNodes = 40, kDepends = 3, kRounds = 6, kAtOnce = 3, kAll = (1 << kVars) - 1 };

typedef enum {
  kPlain,      /* a task */
  kOrdinary,   /* replayable(0) */
  kUndeferred, /* if(0) */
  kParent,     /* its children are in its own list of dependences */
  kOwnGraph,   /* so they are, and in a taskgraph region of the task */
  kWait,
  kWaitFor, /* taskwait depend */
  kOrder,   /* taskwait depend nowait */
  kGroup,
  kNested, /* a taskgraph region in the same task */
  kReduce, /* taskgroup task_reduction */
  kReducing,
  kLoop, /* taskloop */
  kReduceLoop
} Kind;

typedef struct {
  Kind kind;
  int count, var[kDepends], access[kDepends];
  int absent;      /* not in encounters whose number leaves this remainder when divided by 3; -1: never absent */
  int child, next; /* indices; -1: none */
  int reduces;     /* kReducing: the node of the reduction */
  uint64_t constant;
  int flags, priority;
  int trips, step, clause, value, strict, nogroup, if_clause, duplicates;
} Node;

typedef struct {
  uint64_t var[kVars];
  uint64_t slot[kNodes]; /* what the node's tasks found; added, so that a task that runs twice shows */
  uint64_t seen[kNodes]; /* what the encountering task found after a wait */
  uint64_t last[kNodes]; /* the last task of a taskloop */
  uint64_t sum[kNodes];  /* reductions */
  uint64_t number;       /* of the encounter */
} Data;

static Node nodes[kNodes];
static int node_count;
static uint64_t state;

static uint64_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static int below(int limit) { return (int)(draw() % (uint64_t)limit); }

static uint64_t mix(uint64_t a, uint64_t b) { return (a ^ (b + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9 + (a >> 29); }

/* The generator. */

static void draw_accesses(Node* n, int mask, int only_sequential) {
  static const int kinds[] = {kIn, kIn, kInout, kInout, kMutexinoutset, kInoutset};
  n->count = 0;
  for (int v = 0; v < kVars && n->count < kDepends; ++v) {
    if (!(mask >> v & 1) || below(3) != 0) continue;
    n->var[n->count] = v;
    n->access[n->count++] = kinds[below(only_sequential ? 4 : 6)];
  }
}

static void draw_loop(Node* n) {
  n->trips = below(12);
  n->step = below(2) ? 1 + below(3) : -1 - below(3);
  n->clause = below(3);
  n->value = 1 + below(5);
  n->strict = n->clause == 1 && below(2);
  n->nogroup = below(2);
  n->if_clause = below(5) != 0;
  n->duplicates = below(2);
}

static Kind draw_kind(int depth, int reduces) {
  static const Kind top[] = {kPlain, kPlain,   kPlain, kPlain, kOrdinary, kUndeferred, kParent, kOwnGraph,
                             kWait,  kWaitFor, kOrder, kGroup, kNested,   kReduce,     kLoop,   kReduceLoop};
  static const Kind inner[] = {kPlain, kPlain, kPlain, kOrdinary, kUndeferred, kWait, kWaitFor, kOrder, kLoop};
  if (reduces >= 0 && below(2)) return kReducing;
  return depth < 2 ? top[below(16)] : inner[below(9)];
}

static int draw_list(int depth, int mask, int reduces, int changes);

/* The variables on which the node's children may depend: those that belong to their parent. */
static int mask_of(const Node* n, int mask) {
  if (n->kind != kParent && n->kind != kOwnGraph) return mask;
  int own = 0;
  for (int i = 0; i < n->count; ++i) own |= (n->access[i] == kInout) << n->var[i];
  return own;
}

static int draw_node(int depth, int mask, int reduces, int changes) {
  int at = node_count++;
  Node* n = &nodes[at];
  *n = (Node){.kind = draw_kind(depth, reduces), .absent = -1, .child = -1, .next = -1, .reduces = reduces};
  n->constant = draw();
  n->flags = below(4) ? kTied : 0;
  if (below(8) == 0) n->flags |= kPriority;
  n->priority = below(4);
  if (changes && below(6) == 0) n->absent = below(3);
  int waits = n->kind == kWaitFor || n->kind == kOrder || n->kind == kParent || n->kind == kOwnGraph;
  draw_accesses(n, mask, waits);
  draw_loop(n);
  if (n->kind == kParent || n->kind == kOwnGraph || n->kind == kGroup || n->kind == kNested || n->kind == kReduce) {
    n->child = draw_list(depth + 1, mask_of(n, mask), n->kind == kReduce ? at : -1, changes);
  }
  return at;
}

static int draw_list(int depth, int mask, int reduces, int changes) {
  int first = -1, *link = &first;
  for (int i = 2 + below(depth == 0 ? 12 : 4); i > 0 && node_count < kNodes; --i) {
    *link = draw_node(depth, mask, reduces, changes);
    link = &nodes[*link].next;
  }
  return first;
}

/* What the constructs do, in both runs. */

static int is_absent(const Data* d, const Node* n) { return n->absent >= 0 && d->number % 3 == (uint64_t)n->absent; }

static uint64_t private_of(const Data* d, const Node* n) { return mix(n->constant, d->number); }

static void act(Data* d, int at, uint64_t private) {
  const Node* n = &nodes[at];
  uint64_t found = private;
  for (int i = 0; i < n->count; ++i) {
    if (n->access[i] == kIn || n->access[i] == kInout) found = mix(found, d->var[n->var[i]]);
  }
  for (int i = 0; i < n->count; ++i) {
    uint64_t* var = &d->var[n->var[i]];
    uint64_t change = mix(private, (uint64_t)n->var[i]);
    if (n->access[i] == kInout) *var = mix(found, change);
    if (n->access[i] == kMutexinoutset) *var += change;
    if (n->access[i] == kInoutset) __atomic_fetch_add(var, change, __ATOMIC_RELAXED);
  }
  __atomic_fetch_add(&d->slot[at], found, __ATOMIC_RELAXED);
}

/* After a wait for all children. */
static void look(Data* d, int at, int mask) {
  for (int v = 0; v < kVars; ++v) {
    if (mask >> v & 1) d->seen[at] = mix(d->seen[at], d->var[v]);
  }
}

static uint64_t iterate(int at, uint64_t private, int64_t i) { return mix(private + (uint64_t)at, (uint64_t)i); }

static int64_t lower_of(const Node* n) { return n->step > 0 ? 3 : 40; }

/* The serial run. */

static void serially(Data* d, int first, int mask) {
  for (int at = first; at >= 0; at = nodes[at].next) {
    const Node* n = &nodes[at];
    if (is_absent(d, n)) continue;
    uint64_t private = private_of(d, n);
    if (n->child >= 0) serially(d, n->child, mask_of(n, mask));
    switch (n->kind) {
      case kReducing: d->sum[n->reduces] += private; /* fall through */
      case kPlain:
      case kOrdinary:
      case kUndeferred:
      case kParent:
      case kOwnGraph:
      case kWaitFor: act(d, at, private); break;
      case kWait: look(d, at, mask); break;
      case kReduce: d->seen[at] = d->sum[at]; break;
      case kLoop:
      case kReduceLoop:
        for (int k = 0; k < n->trips; ++k) {
          int64_t i = lower_of(n) + (int64_t)k * n->step;
          *(n->kind == kLoop ? &d->slot[at] : &d->sum[at]) += iterate(at, private, i);
          if (n->duplicates && k + 1 == n->trips) d->last[at] = iterate(at, private, i);
        }
        if (n->kind == kReduceLoop || !n->nogroup) d->seen[at] = d->slot[at] + d->sum[at];
        break;
      case kOrder:
      case kGroup:
      case kNested: break;
    }
  }
}

/* The run with tasks. The data is shared, so its address is among the shared pointers; the rest is firstprivate. */

typedef struct {
  Task task;
  uint64_t lower, upper;
  int64_t step;
  int is_last, at, mask;
  uint64_t private;
  void* group;
} Own;

static void* outer_handle;
static void* own_handle;
static void* nested_handle;

static void with_tasks(Data* d, int first, int mask, void* group);

typedef struct {
  Data* data;
  int first, mask;
  void* group;
} Region;

static void run_region(void* arguments) {
  Region* region = arguments;
  with_tasks(region->data, region->first, region->mask, region->group);
}

static Data* data_of(Task* task) { return *(Data**)task->shareds; }

static int run_node(int thread, Task* task) {
  Own* own = (Own*)task;
  Data* d = data_of(task);
  const Node* n = &nodes[own->at];
  int mask = mask_of(n, own->mask);
  if (n->kind == kParent) {
    with_tasks(d, n->child, mask, NULL);
    __kmpc_omp_taskwait(NULL, __kmpc_global_thread_num(NULL));
  } else if (n->kind == kOwnGraph) {
    Region region = {d, n->child, mask, NULL};
    __kmpc_taskgraph(NULL, thread, &own_handle, (uintptr_t)own->at, 0, 0, run_region, &region);
  } else if (n->kind == kReducing) {
    *(uint64_t*)__kmpc_task_reduction_get_th_data(thread, own->group, &d->sum[n->reduces]) += own->private;
  }
  act(d, own->at, own->private);
  return 0;
}

static int run_chunk(int thread, Task* task) {
  Own* own = (Own*)task;
  Data* d = data_of(task);
  const Node* n = &nodes[own->at];
  uint64_t* sum = NULL;
  if (n->kind == kReduceLoop) sum = __kmpc_task_reduction_get_th_data(thread, own->group, &d->sum[own->at]);
  int64_t lower = (int64_t)own->lower, upper = (int64_t)own->upper;
  for (int64_t i = lower; n->step > 0 ? i <= upper : i >= upper; i += n->step) {
    uint64_t term = iterate(own->at, own->private, i);
    sum != NULL ? (void)(*sum += term) : (void)__atomic_fetch_add(&d->slot[own->at], term, __ATOMIC_RELAXED);
    if (own->is_last && i == upper) d->last[own->at] = term;
  }
  return 0;
}

static Own* allocate(Data* d, int at, int mask, void* group, Routine routine) {
  const Node* n = &nodes[at];
  Task* task =
      __kmpc_omp_task_alloc(NULL, __kmpc_global_thread_num(NULL), n->flags, sizeof(Own), sizeof(Data*), routine);
  *(Data**)task->shareds = d;
  if (n->flags & kPriority) task->data.priority = n->priority;
  Own* own = (Own*)task;
  own->is_last = 0;
  own->at = at;
  own->mask = mask;
  own->private = private_of(d, n);
  own->group = group;
  return own;
}

static void fill(Data* d, const Node* n, Depend* list) {
  for (int i = 0; i < n->count; ++i)
    list[i] = (Depend){&d->var[n->var[i]], sizeof(uint64_t), (unsigned char)n->access[i]};
}

static void create(Data* d, int at, int mask, void* group) {
  const Node* n = &nodes[at];
  Depend list[kDepends];
  fill(d, n, list);
  Own* own = allocate(d, at, mask, group, run_node);
  int thread = __kmpc_global_thread_num(NULL);
  if (n->kind == kUndeferred) {
    if (n->count != 0) __kmpc_omp_taskwait_deps_51(NULL, thread, n->count, list, 0, NULL, 0);
    __kmpc_omp_task_begin_if0(NULL, thread, &own->task);
    run_node(thread, &own->task);
    __kmpc_omp_task_complete_if0(NULL, thread, &own->task);
  } else if (n->kind == kOrdinary && n->count == 0) {
    __kmpc_omp_task(NULL, thread, &own->task);
  } else if (n->kind == kOrdinary) {
    __kmpc_omp_task_with_deps(NULL, thread, &own->task, n->count, list, 0, NULL);
  } else {
    __kmpc_taskgraph_task(NULL, thread, &own->task, n->flags, sizeof(Own), sizeof(Data*), n->count, list, NULL, NULL);
  }
}

static void zero(void* copy, void* original) {
  (void)original;
  *(uint64_t*)copy = 0;
}
static void add(void* into, void* copy) { *(uint64_t*)into += *(uint64_t*)copy; }

static void* reduce(Data* d, int at) {
  Reduced item = {&d->sum[at], &d->sum[at], sizeof(uint64_t), zero, NULL, add, 0};
  return __kmpc_taskgraph_taskred_init(__kmpc_global_thread_num(NULL), 1, &item);
}

static void mark_last(Task* to, Task* from, int last) {
  (void)from;
  ((Own*)to)->is_last = last;
}

static void loop(Data* d, int at, void* group) {
  const Node* n = &nodes[at];
  Own* own = allocate(d, at, 0, group, run_chunk);
  own->lower = (uint64_t)lower_of(n);
  own->upper = (uint64_t)(lower_of(n) + (int64_t)(n->trips - 1) * n->step);
  __kmpc_taskgraph_taskloop(NULL, __kmpc_global_thread_num(NULL), &own->task, n->flags, sizeof(Own), n->if_clause,
                            &own->lower, &own->upper, n->step, n->nogroup, n->clause, (uint64_t)n->value, n->strict,
                            n->duplicates ? mark_last : NULL, NULL);
}

static void wait_for(Data* d, int at) {
  const Node* n = &nodes[at];
  Depend list[kDepends];
  fill(d, n, list);
  __kmpc_taskgraph_taskwait(NULL, __kmpc_global_thread_num(NULL), n->count, list, n->kind == kOrder);
  if (n->kind == kWaitFor) act(d, at, private_of(d, n));
}

static void in_group(Data* d, int at, int mask) {
  const Node* n = &nodes[at];
  __kmpc_taskgroup(NULL, __kmpc_global_thread_num(NULL));
  void* group = n->kind == kGroup || n->kind == kLoop ? NULL : reduce(d, at);
  n->kind == kLoop || n->kind == kReduceLoop ? loop(d, at, group) : with_tasks(d, n->child, mask, group);
  __kmpc_end_taskgroup(NULL, __kmpc_global_thread_num(NULL));
  if (n->kind == kReduce) d->seen[at] = d->sum[at];
  if (n->kind == kLoop || n->kind == kReduceLoop) d->seen[at] = d->slot[at] + d->sum[at];
}

static void with_tasks(Data* d, int first, int mask, void* group) {
  for (int at = first; at >= 0; at = nodes[at].next) {
    const Node* n = &nodes[at];
    if (is_absent(d, n)) continue;
    Region region = {d, n->child, mask, NULL};
    switch (n->kind) {
      case kWait:
        __kmpc_omp_taskwait(NULL, __kmpc_global_thread_num(NULL));
        look(d, at, mask);
        break;
      case kWaitFor:
      case kOrder: wait_for(d, at); break;
      case kNested:
        __kmpc_taskgraph(NULL, __kmpc_global_thread_num(NULL), &nested_handle, (uintptr_t)at, 0, 0, run_region,
                         &region);
        break;
      case kLoop: n->nogroup ? loop(d, at, NULL) : in_group(d, at, mask); break;
      case kGroup:
      case kReduce:
      case kReduceLoop: in_group(d, at, mask); break;
      default: create(d, at, mask, group); break;
    }
  }
}

/* Encounters. */

static void encounter(Data* d, uintptr_t id, int reset, int nogroup, int if_clause) {
  Region region = {d, 0, kAll, NULL};
  int thread = __kmpc_global_thread_num(NULL);
  if (if_clause) {
    __kmpc_taskgraph(NULL, thread, &outer_handle, id, reset, nogroup, run_region, &region);
  } else { /* Clang leaves out the call, and keeps the taskgroup */
    __kmpc_taskgroup(NULL, thread);
    run_region(&region);
    __kmpc_end_taskgroup(NULL, __kmpc_global_thread_num(NULL));
  }
  if (nogroup) __kmpc_omp_taskwait(NULL, __kmpc_global_thread_num(NULL));
}

static void begin(Data* d, uint64_t number) {
  memset(d, 0, sizeof *d);
  d->number = number;
  for (int v = 0; v < kVars; ++v) d->var[v] = mix(number, (uint64_t)v);
}

static void check(const Data* d, uint64_t seed) {
  static Data expected;
  begin(&expected, d->number);
  serially(&expected, 0, kAll);
  if (memcmp(&expected, d, sizeof expected) == 0) return;
  for (int v = 0; v < kVars; ++v) {
    if (d->var[v] != expected.var[v]) printf("variable %d differs\n", v);
  }
  for (int i = 0; i < node_count; ++i) {
    if (d->slot[i] != expected.slot[i]) printf("node %d (kind %d): other work\n", i, nodes[i].kind);
    if (d->seen[i] != expected.seen[i]) printf("node %d (kind %d): found something else\n", i, nodes[i].kind);
    if (d->last[i] != expected.last[i]) printf("node %d (kind %d): another last iteration\n", i, nodes[i].kind);
    if (d->sum[i] != expected.sum[i]) printf("node %d (kind %d): another sum\n", i, nodes[i].kind);
  }
  check_failed(__FILE__, __LINE__, "encounter %llu of seed %llu differs from the serial run",
               (unsigned long long)d->number, (unsigned long long)seed);
}

static void one_program(uint64_t seed) {
  static Data data[kAtOnce]; /* the same addresses each time: else no encounter would repeat another's dependences */
  state = seed * 0x2545f4914f6cdd1d + 1;
  for (int i = 0; i < 4; ++i) draw();
  node_count = 0;
  draw_list(0, kAll, -1, below(3) == 0);
  for (int round = 0; round < kRounds; ++round) {
    int at_once = round == 0 || below(4) ? 1 : kAtOnce, id = below(5) == 0, same = below(2);
    int reset = below(6) == 0, nogroup = below(10) == 0, if_clause = below(10) != 0;
    for (int i = 0; i < at_once; ++i) begin(&data[i], (uint64_t)(round * kAtOnce + i));
    for (int i = 1; i < at_once; ++i) {
#pragma omp task firstprivate(i, id, same) shared(data)
      encounter(&data[i], (uintptr_t)(same ? id : i), 0, 0, 1);
    }
    encounter(&data[0], (uintptr_t)id, reset, nogroup, if_clause);
#pragma omp taskwait
    for (int i = 0; i < at_once; ++i) check(&data[i], seed);
  }
}

int main(int argc, char** argv) {
  const char* all = getenv("MARLINE_EXHAUSTIVE");
  long programs = argc > 1 ? atol(argv[1]) : all != NULL && atoi(all) != 0 ? 100000 : kPrograms;
  uint64_t first = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < programs; ++i) one_program(first + (uint64_t)i);
  return 0;
}
