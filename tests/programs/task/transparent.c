/* SPDX-License-Identifier: Apache-2.0
 *
 * Transparent tasks (OpenMP 6.0, section 17.9.6): their children are ordered with the task's siblings. Clang 23 tells
 * the runtime by a flag in __kmpc_omp_task_alloc; here a wrapper sets it, so that older versions can say it, too.
 *
 * The random programs are trees of tasks that read and write a few cells; a task with children is transparent, and
 * names in its depend clauses all that they use, or has none. Every task has to see what a sequential run leaves.
 *
 * Covers: task(depend:in/out/inout/mutexinoutset/iterator, if, detach), taskwait, taskloop(nogroup), cancel
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

enum { kTransparent = 0x100, kCells = 6, kMostNodes = 400, kDeepest = 3, kMostChildren = 7 };

static _Thread_local int is_next_transparent;

void* __kmpc_omp_task_alloc(void* ident, int32_t thread, int32_t flags, size_t bytes, size_t shareds, void* routine) {
  static void* (*next)(void*, int32_t, int32_t, size_t, size_t, void*);
  if (next == NULL) *(void**)&next = dlsym(RTLD_NEXT, "__kmpc_omp_task_alloc");
  if (is_next_transparent) flags |= kTransparent;
  is_next_transparent = 0;
  return next(ident, thread, flags, bytes, shareds, routine);
}

static int load(int* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

/* Grandchildren by way of two tasks on the same data, and a reader after both. */
static void grandchildren(void) {
  for (int round = 0; round < 20; round++) {
    int x = 0, seen = 0, last = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
    {
      is_next_transparent = 1;
#pragma omp task depend(inout : x) shared(x)
      {
#pragma omp task depend(out : x) shared(x)
        {
          usleep(500);
          x = 1;
        }
      }
      is_next_transparent = 1;
#pragma omp task depend(inout : x) shared(x, seen)
      {
#pragma omp task depend(in : x) shared(x, seen)
        seen = x;
#pragma omp task depend(out : x) shared(x)
        {
          usleep(500);
          x++;
        }
      }
#pragma omp task depend(in : x) shared(x, last)
      last = x;
    }
    CHECK_EQ(seen, 1);
    CHECK_EQ(last, 2);
  }
}

/* Import: the child waits for the writer, which its parent does not name; the parent runs at once, and lets it end. */
static void imports(void) {
  int x = 0, y = 0, go = 0, seen = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x, go)
    {
      while (!load(&go)) {
#pragma omp taskyield
      }
      x = 5;
    }
    is_next_transparent = 1;
#pragma omp task depend(out : y) shared(x, go, seen)
    {
#pragma omp task depend(in : x) shared(x, seen)
      seen = x;
      __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    }
  }
  CHECK_EQ(seen, 5);
}

/* Two transparent tasks on different data run at the same time: each waits for the other's child to begin. */
static void beside_each_other(void) {
  if (omp_get_max_threads() < 2) return;
  int a = 0, b = 0, begun[2] = {0, 0};
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 2; i++) {
    int* key = i == 0 ? &a : &b;
    is_next_transparent = 1;
#pragma omp task depend(inout : key[0]) shared(begun) firstprivate(key, i)
    {
#pragma omp task depend(inout : key[0]) shared(begun) firstprivate(i)
      {
        __atomic_store_n(&begun[i], 1, __ATOMIC_RELEASE);
        while (!load(&begun[1 - i])) {
#pragma omp taskyield
        }
      }
    }
  }
  CHECK(begun[0] && begun[1]);
}

/* As the public suite has it (OpenMP_VV, tests/6.0/task/test_task_transparent_*.c): the outer tasks have no depend
 * clauses, so the standard does not order the children of the first and of the second. Marline does. */
static void without_depend(void) {
  int x = 0, y = 0, z = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
    is_next_transparent = 1;
#pragma omp task shared(x, y)
    {
#pragma omp task shared(x) depend(out : x)
      {
        usleep(500);
        x = 1;
      }
#pragma omp task shared(y) depend(out : y)
      {
        usleep(500);
        y = 1;
      }
    }
    is_next_transparent = 1;
#pragma omp task shared(x, z)
    {
#pragma omp task shared(x, z) depend(in : x) depend(out : z)
      z = x + 1;
    }
#pragma omp task shared(y, z) depend(in : y) depend(inout : z)
    z += 10 * y;
  }
  CHECK_EQ(z, 12);
}

static void wait_for(int* word) {
  while (!load(word)) {
#pragma omp taskyield
  }
}

/* No more order than asked for: generating tasks are a chain, and the second runs while a child of the first does. Its
 * own child waits for one child of the first, not for the other. */
static void no_more_order(void) {
  int generator, a = 0, b = 0, second_has_run = 0, reader_has_run = 0, seen = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    is_next_transparent = 1;
#pragma omp task depend(inout : generator) shared(a, b, second_has_run, reader_has_run)
    {
#pragma omp task depend(inout : a) shared(a, second_has_run)
      {
        wait_for(&second_has_run);
        a = 7;
      }
#pragma omp task depend(inout : b) shared(b, reader_has_run)
      wait_for(&reader_has_run);
    }
    is_next_transparent = 1;
#pragma omp task depend(inout : generator) shared(a, second_has_run, reader_has_run, seen)
    {
#pragma omp task depend(in : a) shared(a, reader_has_run, seen)
      {
        seen = a;
        __atomic_store_n(&reader_has_run, 1, __ATOMIC_RELEASE);
      }
      __atomic_store_n(&second_has_run, 1, __ATOMIC_RELEASE);
    }
  }
  CHECK_EQ(seen, 7);
}

/* An undeferred transparent task returns to its creator before its children end; a later sibling waits for them. */
static void undeferred(void) {
  int x = 0, go = 0, seen = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    is_next_transparent = 1;
#pragma omp task if (0) shared(x, go)
    {
#pragma omp task depend(out : x) shared(x, go)
      {
        wait_for(&go);
        x = 3;
      }
    }
#pragma omp task depend(in : x) shared(x, seen)
    seen = x;
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
#pragma omp taskwait depend(inout : x)
    CHECK_EQ(x, 3); /* the taskwait, too */
  }
  CHECK_EQ(seen, 3);
}

/* Iterations of a transparent taskloop run beside each other; what their children write, a later task reads. */
static void loop(void) {
  enum { kChunks = 4 };
  int cell[kChunks] = {0}, begun = 0, sum = 0, before = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task depend(out : cell[0], cell[1], cell[2], cell[3]) shared(before)
    {
      usleep(500);
      before = 1;
    }
    is_next_transparent = 1;
#pragma omp taskloop num_tasks(kChunks) nogroup shared(cell, begun, before)
    for (int i = 0; i < kChunks; i++) {
      __atomic_fetch_add(&begun, 1, __ATOMIC_RELEASE);
      while (load(&begun) < kChunks) {
#pragma omp taskyield
      }
#pragma omp task depend(inout : cell[i]) shared(cell, before) firstprivate(i)
      {
        usleep(500);
        cell[i] = i + before;
      }
    }
#pragma omp task depend(in : cell[0], cell[1], cell[2], cell[3]) shared(cell, sum)
    for (int i = 0; i < kChunks; i++) sum += cell[i];
  }
  CHECK_EQ(sum, 6 + kChunks);
}

/* What a cancelled group leaves out orders nothing, and what it has begun still does. */
static void cancelled(void) {
  int x = 0, y = 0, seen = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp taskgroup
    {
      is_next_transparent = 1;
#pragma omp task depend(inout : x) shared(x)
      {
#pragma omp task depend(out : x) shared(x)
        x = 1;
#pragma omp cancel taskgroup
      }
      is_next_transparent = 1;
#pragma omp task depend(inout : x, y) shared(y)
      {
#pragma omp task depend(out : y) shared(y)
        y = 1;
      }
    }
#pragma omp task depend(in : x, y) shared(x, y, seen)
    seen = x + y;
  }
  CHECK(seen >= 0);
}

/* The child of a transparent task completes when its event is fulfilled: by a sibling of its parent that does not
 * depend on it, but on the parent. */
static void detached(void) {
  int x = 0, y = 0, seen = 0;
  omp_event_handle_t event;
  omp_event_handle_t* events = &event;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    is_next_transparent = 1;
#pragma omp task depend(inout : x) shared(y, events)
    {
      omp_event_handle_t own;
#pragma omp task depend(out : y) detach(own) shared(y)
      y = 4;
      *events = own;
    }
#pragma omp task depend(in : y, x) shared(y, seen)
    seen = y;
#pragma omp task depend(in : x) shared(events)
    omp_fulfill_event(*events);
  }
  CHECK_EQ(seen, 4);
}

/* Members of a mutexinoutset exclude each other across the border of a transparent task; a set is a set there, too. */
static void sets(void) {
  int x = 0, generator = 0, sum = 0, inside = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  for (int round = 0; round < 30; round++) {
    for (int i = 0; i < 2; i++) {
#pragma omp task depend(mutexinoutset : x) shared(sum, inside)
      {
        CHECK_EQ(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED), 0);
        sum++;
        __atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
      }
    }
    is_next_transparent = 1;
#pragma omp task depend(inout : generator) shared(sum, inside, x)
    for (int i = 0; i < 3; i++) {
#pragma omp task depend(mutexinoutset : x) shared(sum, inside)
      {
        CHECK_EQ(__atomic_fetch_add(&inside, 1, __ATOMIC_RELAXED), 0);
        sum++;
        __atomic_fetch_sub(&inside, 1, __ATOMIC_RELAXED);
      }
    }
#pragma omp taskwait depend(inout : generator, x)
    CHECK_EQ(sum, 5 * (round + 1));
  }
}

typedef struct {
  int first, count;       /* children; count 0: a leaf */
  int names;              /* it has depend clauses */
  int undeferred, waits;  /* if(0); a taskwait in its midst */
  unsigned reads, writes; /* cells, its children's included */
  int expected[kCells];   /* of what a leaf reads */
} Node;

static Node nodes[kMostNodes];
static int node_count, cells[kCells];
static unsigned state;

static int draw(int below) {
  state = state * 1103515245u + 12345;
  return (int)(state >> 16) % below;
}

static void grow(int index, int depth) {
  Node* node = &nodes[index];
  int count = depth == 0 ? kMostChildren : 1 + draw(kMostChildren);
  if (node_count + count > kMostNodes || (depth > 0 && (depth == kDeepest || draw(3) == 0))) {
    node->reads = 1u << draw(kCells);
    node->writes = draw(2) ? 1u << draw(kCells) : 0;
    node->names = 1;
    return;
  }
  node->first = node_count;
  node->count = count;
  node->names = draw(4) != 0;
  node->undeferred = draw(6) == 0;
  node->waits = draw(4) == 0;
  node_count += count;
  for (int i = 0; i < count; i++) {
    grow(nodes[index].first + i, depth + 1);
    node->reads |= nodes[node->first + i].reads;
    node->writes |= nodes[node->first + i].writes;
  }
}

/* In the order of the program. */
static void run_sequentially(Node* node) {
  for (int i = 0; i < node->count; i++) run_sequentially(&nodes[node->first + i]);
  for (int c = 0; c < kCells && node->count == 0; c++) {
    if (node->reads >> c & 1) node->expected[c] = cells[c];
  }
  for (int c = 0; c < kCells && node->count == 0; c++) {
    if (node->writes >> c & 1) cells[c] = (int)(node - nodes);
  }
}

static void run_leaf(const Node* node) {
  for (int c = 0; c < kCells; c++) {
    if (node->reads >> c & 1) CHECK_EQ(cells[c], node->expected[c]);
  }
  for (int c = 0; c < kCells; c++) {
    if (node->writes >> c & 1) cells[c] = (int)(node - nodes);
  }
}

static void run(Node* node);

static int list_of(unsigned set, int* list) {
  int count = 0;
  for (int c = 0; c < kCells; c++) {
    if (set >> c & 1) list[count++] = c;
  }
  return count;
}

static void create(Node* node) {
  int in[kCells], out[kCells];
  int reads = list_of(node->reads & ~node->writes, in), writes = list_of(node->writes, out);
  int deferred = !node->undeferred;
  is_next_transparent = node->count != 0;
  if (node->names) {
#pragma omp task depend(iterator(i = 0 : reads), in : cells[in[i]]) \
    depend(iterator(i = 0 : writes), inout : cells[out[i]]) firstprivate(node) if (deferred)
    run(node);
  } else {
#pragma omp task firstprivate(node) if (deferred)
    run(node);
  }
}

static void run(Node* node) {
  if (node->count == 0) return run_leaf(node);
  for (int i = 0; i < node->count; i++) {
    if (node->waits && i == node->count / 2) {
#pragma omp taskwait
    }
    create(&nodes[node->first + i]);
  }
}

static void random_program(unsigned seed) {
  state = seed;
  node_count = 1;
  memset(nodes, 0, sizeof nodes);
  memset(cells, 0, sizeof cells);
  grow(0, 0);
  run_sequentially(&nodes[0]);
  int result[kCells];
  memcpy(result, cells, sizeof cells);
  memset(cells, 0, sizeof cells);
#pragma omp parallel
#pragma omp single
  {
    nodes[0].waits = 0;
    run(&nodes[0]);
  }
  for (int c = 0; c < kCells; c++) CHECK_EQ(cells[c], result[c]);
}

int main(int argc, char** argv) {
  int programs = argc > 1 ? atoi(argv[1]) : 100;
  grandchildren();
  imports();
  beside_each_other();
  without_depend();
  no_more_order();
  undeferred();
  loop();
  cancelled();
  detached();
  sets();
  for (int i = 0; i < programs; i++) random_program((unsigned)i * 7919 + 1);
  return 0;
}
