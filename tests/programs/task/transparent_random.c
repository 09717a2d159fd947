/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs with transparent tasks against the rules of OpenMP 6.0, section 17.9.5. A program is a tree of tasks,
 * some of them transparent, with random dependences of all kinds. The model finds, for each task in the order in which
 * one thread would create them, all tasks that must have completed before it. Each task checks them when it begins, and
 * reads what they have written.
 *
 * The tasks are created as Clang 23.1 does it: the clause is bit 0x100 of the flags, whatever its argument is, and a
 * taskloop has it in its pattern. Usage: transparent_random [programs [first seed]]
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

enum { kTied = 1, kFinal = 2, kPriority = 0x20, kDetachable = 0x40, kTransparent = 0x100 };
enum { kIn = 1, kInout = 3, kMutex = 4, kSet = 8, kAllMemory = 0x80 };
enum { kMostNodes = 64, kCells = 5, kMostDeps = 3, kMostChildren = 6, kDeepest = 4, kCancelTaskgroup = 4 };

typedef struct {
  void* address;
  size_t length;
  uint8_t flags;
} Dep;

typedef struct { /* kmp_task_t, and the privates */
  void* shareds;
  int32_t (*routine)(int32_t, void*);
  int32_t part;
  void* destructors;
  int64_t priority;
  struct Node* node;
  uint64_t lower, upper;
} Block;

extern void* __kmpc_omp_task_alloc(KmpIdent*, int32_t, int32_t, size_t, size_t, int32_t (*)(int32_t, void*));
extern int32_t __kmpc_omp_task(KmpIdent*, int32_t, void*);
extern int32_t __kmpc_omp_task_with_deps(KmpIdent*, int32_t, void*, int32_t, Dep*, int32_t, Dep*);
extern void __kmpc_omp_wait_deps(KmpIdent*, int32_t, int32_t, Dep*, int32_t, Dep*);
extern void __kmpc_omp_task_begin_if0(KmpIdent*, int32_t, void*);
extern void __kmpc_omp_task_complete_if0(KmpIdent*, int32_t, void*);
extern void __kmpc_taskloop(KmpIdent*, int32_t, void*, int32_t, uint64_t*, uint64_t*, int64_t, int32_t, int32_t,
                            uint64_t, void*);
extern void __kmpc_taskgroup(KmpIdent*, int32_t);
extern void __kmpc_end_taskgroup(KmpIdent*, int32_t);
extern void* __kmpc_task_allow_completion_event(KmpIdent*, int32_t, void*);
extern int32_t __kmpc_cancel(KmpIdent*, int32_t, int32_t);
extern int32_t __kmpc_omp_taskwait(KmpIdent*, int32_t);
extern int32_t __kmpc_omp_taskyield(KmpIdent*, int32_t, int32_t);

typedef struct Node {
  int parent, child_count, children[kMostChildren];
  int transparent, undeferred, is_final, untied, detached, chunk; /* chunk: of a taskloop with the next ones */
  int waits, groups, cancels, yields;
  int32_t priority;
  int dep_count;
  Dep deps[kMostDeps];
  /* The model's; bit i is node i. */
  uint64_t compatible, before, excluded, siblings_before;
  int is_deferred;
  void* event;
  int mark; /* written by the task, read by those after it: for ThreadSanitizer */
} Node;

static Node nodes[kMostNodes];
static int node_count;
static char cells[kCells];
static uint64_t done, active, may_be_cancelled, random_state;

static int draw(int below) { /* xorshift64* (Vigna, 2016) */
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (int)((random_state * 2685821657736338717ULL >> 33) % (unsigned)below);
}

static int one_in(int n) { return draw(n) == 0; }

/* A transparent task in a mutexinoutset that waits for its children could wait for a child that is ordered after
 * another task of the set, which has not begun. */
static void draw_deps(Node* node) {
  static const uint8_t kinds[] = {kIn, kIn, kInout, kInout, kMutex, kSet};
  if (one_in(24)) {
    node->deps[node->dep_count++] = (Dep){NULL, 0, kAllMemory};
    return;
  }
  int used = 0;
  for (int count = draw(kMostDeps + 1); count > 0; count--) {
    int cell = draw(kCells);
    uint8_t kind = kinds[draw(sizeof kinds)];
    if (used >> cell & 1 || (kind == kMutex && node->transparent)) continue;
    used |= 1 << cell;
    node->deps[node->dep_count++] = (Dep){&cells[cell], 1, kind};
  }
}

/* `lasts`: no taskgroup around can be cancelled, so the task that fulfils an event runs. */
static void grow(int index, int depth, int lasts) {
  Node* node = &nodes[index];
  int count = depth == kDeepest || (depth > 0 && one_in(2)) ? 0 : 1 + draw(kMostChildren);
  node->waits = one_in(5);
  node->groups = one_in(5);
  node->yields = one_in(4);
  node->cancels = node->groups && depth > 0 && one_in(4);
  int chunks = 0;
  for (int i = 0; i < count && node_count < kMostNodes; i++) {
    int child = node->children[node->child_count++] = node_count++;
    Node* c = &nodes[child];
    *c = (Node){.parent = index, .transparent = !one_in(3), .priority = draw(3), .untied = one_in(4)};
    if (chunks == 0 && one_in(8) && count - i > 1) chunks = 2;
    if (chunks > 0) {
      chunks--;
      c->transparent = c->chunk = 1;
      c->untied = 0;
    } else {
      draw_deps(c);
      c->undeferred = one_in(6);
      c->is_final = one_in(12);
    }
    grow(child, depth + 1, lasts && !node->cancels);
    c->detached = c->child_count == 0 && lasts && !node->cancels && !c->chunk && !c->undeferred && one_in(6);
  }
}

static int conflict(const Node* a, const Node* b, int* excludes) {
  int result = 0;
  for (int i = 0; i < a->dep_count; i++) {
    for (int j = 0; j < b->dep_count; j++) {
      const Dep *x = &a->deps[i], *y = &b->deps[j];
      if (x->flags == kAllMemory || y->flags == kAllMemory) result = 1;
      if (x->address != y->address) continue;
      if (x->flags != y->flags || x->flags == kInout) result = 1;
      if (x->flags == kMutex && y->flags == kMutex) *excludes = 1;
    }
  }
  return result;
}

static uint64_t children_of(int index) {
  uint64_t set = 0;
  for (int i = 0; i < nodes[index].child_count; i++) set |= 1ull << nodes[index].children[i];
  return set;
}

/* The four rules of "preceding dependence-compatible task", and the antecedents that follow from them. */
static void find_predecessors(int index, uint64_t siblings) {
  Node* node = &nodes[index];
  const Node* parent = &nodes[node->parent];
  node->compatible = siblings;
  if (parent->transparent) node->compatible |= parent->compatible;
  for (int i = 0; i < index; i++) {
    if (siblings >> i & 1 && nodes[i].transparent && !nodes[i].is_deferred) node->compatible |= children_of(i);
  }
  for (uint64_t last = 0; last != node->compatible;) {
    last = node->compatible;
    for (int i = 0; i < index; i++) {
      int excludes = 0;
      if (!(node->compatible >> i & 1)) continue;
      if (conflict(&nodes[i], node, &excludes)) node->before |= 1ull << i | nodes[i].before;
      if (excludes) node->excluded |= 1ull << i;
    }
    for (int i = 0; i < index; i++) {
      if (node->before >> i & 1 && nodes[i].transparent) node->compatible |= children_of(i);
    }
  }
}

static void model(int index, int included) {
  uint64_t siblings = 0;
  Node* node = &nodes[index];
  for (int i = 0; i < node->child_count; i++) {
    int child = node->children[i];
    nodes[child].is_deferred = !nodes[child].undeferred && !included;
    find_predecessors(child, siblings);
    if (node->cancels || may_be_cancelled >> index & 1) may_be_cancelled |= 1ull << child;
    siblings |= 1ull << child;
    model(child, included || nodes[child].is_final);
  }
}

static void fail(const Node* node, const char* what, uint64_t set) {
  check_failed(__FILE__, __LINE__, "task %d %s %d", (int)(node - nodes), what, __builtin_ctzll(set));
}

static void begin_body(Node* node) {
  uint64_t missing = node->before & ~__atomic_load_n(&done, __ATOMIC_RELAXED) & ~may_be_cancelled;
  if (missing != 0) fail(node, "began before the end of", missing);
  for (int i = 0; i < node_count; i++) {
    if (node->before & ~may_be_cancelled & 1ull << i) CHECK_EQ(nodes[i].mark, i);
  }
  uint64_t others = __atomic_fetch_or(&active, 1ull << (node - nodes), __ATOMIC_SEQ_CST);
  if (others & node->excluded) fail(node, "runs at the same time as", others & node->excluded);
}

static void end_body(Node* node) {
  __atomic_fetch_and(&active, ~(1ull << (node - nodes)), __ATOMIC_SEQ_CST);
  node->mark = (int)(node - nodes);
  __atomic_fetch_or(&done, 1ull << (node - nodes), __ATOMIC_RELAXED);
}

static int32_t me(void) { return __kmpc_global_thread_num(&kmp_here); }
static void create_children(Node* node);

static int32_t fulfil(int32_t thread, void* argument) {
  (void)thread;
  Node* node = ((Block*)argument)->node;
  __kmpc_omp_taskyield(&kmp_here, me(), 0);
  end_body(node);
  omp_fulfill_event((omp_event_handle_t)node->event);
  return 0;
}

static int32_t run_node(int32_t thread, void* argument) {
  Node* node = ((Block*)argument)->node;
  begin_body(node);
  if (node->yields) __kmpc_omp_taskyield(&kmp_here, thread, 0);
  create_children(node);
  if (nodes[node->parent].cancels && node == &nodes[nodes[node->parent].children[0]]) {
    __kmpc_cancel(&kmp_here, me(), kCancelTaskgroup);
  }
  if (!node->detached) {
    end_body(node);
    return 0;
  }
  Block* block = (Block*)__kmpc_omp_task_alloc(&kmp_here, me(), kTied, sizeof(Block), 0, fulfil);
  block->node = node;
  __kmpc_omp_task(&kmp_here, me(), block);
  return 0;
}

static int32_t run_chunk(int32_t thread, void* argument) {
  Block block = *(Block*)argument;
  for (uint64_t i = block.lower; i <= block.upper; i++) {
    block.node = &nodes[nodes[((Block*)argument)->node->parent].children[i]];
    run_node(thread, &block);
  }
  return 0;
}

static Block* allocate(Node* node, int32_t (*routine)(int32_t, void*)) {
  int32_t flags = (node->untied ? 0 : kTied) | kPriority | (node->transparent ? kTransparent : 0) |
                  (node->is_final ? kFinal : 0) | (node->detached ? kDetachable : 0);
  Block* block = (Block*)__kmpc_omp_task_alloc(&kmp_here, me(), flags, sizeof(Block), 0, routine);
  block->priority = node->priority;
  block->node = node;
  if (node->detached) node->event = __kmpc_task_allow_completion_event(&kmp_here, me(), block);
  return block;
}

static void create_chunks(Node* parent, int first, int last) {
  Block* block = allocate(&nodes[parent->children[first]], run_chunk);
  block->lower = (uint64_t)first;
  block->upper = (uint64_t)last;
  const int32_t grainsize = 1;
  __kmpc_taskloop(&kmp_here, me(), block, 1, &block->lower, &block->upper, 1, /* nogroup */ 1, grainsize, 1, NULL);
}

static void create(Node* node) {
  Block* block = allocate(node, run_node);
  if (node->undeferred) {
    if (node->dep_count > 0) __kmpc_omp_wait_deps(&kmp_here, me(), node->dep_count, node->deps, 0, NULL);
    __kmpc_omp_task_begin_if0(&kmp_here, me(), block);
    run_node(me(), block);
    __kmpc_omp_task_complete_if0(&kmp_here, me(), block);
  } else if (node->dep_count > 0) {
    __kmpc_omp_task_with_deps(&kmp_here, me(), block, node->dep_count, node->deps, 0, NULL);
  } else {
    __kmpc_omp_task(&kmp_here, me(), block);
  }
}

static void create_children(Node* node) {
  if (node->groups) __kmpc_taskgroup(&kmp_here, me());
  for (int i = 0; i < node->child_count; i++) {
    if (node->waits && i == node->child_count / 2) __kmpc_omp_taskwait(&kmp_here, me());
    int last = i;
    while (nodes[node->children[i]].chunk && last + 1 < node->child_count && nodes[node->children[last + 1]].chunk)
      last++;
    if (nodes[node->children[i]].chunk) {
      create_chunks(node, i, last);
    } else {
      create(&nodes[node->children[i]]);
    }
    i = last;
  }
  if (node->groups) __kmpc_end_taskgroup(&kmp_here, me());
}

static void run_program(uint64_t seed) {
  random_state = seed * 0x9E3779B97F4A7C15ull + 1;
  node_count = 1;
  done = active = may_be_cancelled = 0;
  nodes[0] = (Node){.parent = 0};
  grow(0, 0, 1);
  model(0, 0);
#pragma omp parallel
#pragma omp single
  create_children(&nodes[0]);
  uint64_t all = (node_count == 64 ? ~0ull : (1ull << node_count) - 1) & ~1ull;
  if (all & ~done & ~may_be_cancelled) check_failed(__FILE__, __LINE__, "tasks were not run");
}

int main(int argc, char** argv) {
  int programs = argc > 1 ? atoi(argv[1]) : 1000, first = argc > 2 ? atoi(argv[2]) : 1;
  for (int i = 0; i < programs; i++) {
    if (getenv("VERBOSE")) fprintf(stderr, "seed %d\n", first + i);
    run_program((uint64_t)(first + i));
  }
  return 0;
}
