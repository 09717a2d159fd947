/* SPDX-License-Identifier: Apache-2.0
 *
 * Target tasks with a device that works on after their body has ended. This program takes libomptarget's place in the
 * protocol between LLVM's libomptarget and the host runtime. A body leaves a handle; the runtime asks by
 * __tgt_target_nowait_query until the handle is null. An operation here ends only when it has been asked for often
 * enough AND the host task beside it has run, so a runtime that keeps a thread in the wait, or that waits before it
 * goes on, never ends.
 *
 * Covers: taskgroup, taskwait
 */
#include "../../check.h"
#include "../../kmp.h"
#include <omp.h>
#include <pthread.h>

typedef struct Block { /* kmp_task_t, and the private part */
  void* shareds;
  int32_t (*routine)(int32_t, struct Block*);
  int32_t part_id;
  void* destructors;
  void* priority;
  int number;
} Block;

typedef struct { /* kmp_depend_info */
  void* address;
  size_t length;
  uint8_t flags;
} Depend;

enum { kInout = 3, kProxy = 0x10, kTied = 1 };

Block* __kmpc_omp_target_task_alloc(KmpIdent*, int32_t, int32_t, size_t, size_t, int32_t (*)(int32_t, Block*), int64_t);
Block* __kmpc_omp_task_alloc(KmpIdent*, int32_t, int32_t, size_t, size_t, int32_t (*)(int32_t, Block*));
int32_t __kmpc_omp_task(KmpIdent*, int32_t, Block*);
int32_t __kmpc_omp_task_with_deps(KmpIdent*, int32_t, Block*, int32_t, Depend*, int32_t, Depend*);
_Bool __kmpc_omp_has_task_team(int32_t);
void** __kmpc_omp_get_target_async_handle_ptr(int32_t);
void __kmpc_proxy_task_completed_ooo(Block*);
int __kmpc_get_target_offload(void);

#define TASKS 40
#define POLLS 20

typedef struct {
  int started, polls, host_done, ended;
} Operation;

static Operation operations[TASKS];
static int in_flight, most_in_flight;

static int get(const int* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static void set(int* word, int value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }
static int add(int* word, int value) { return __atomic_add_fetch(word, value, __ATOMIC_ACQ_REL); }

/* libomptarget's. May be called by any thread, by one at a time for a handle. */
__attribute__((visibility("default"))) void __tgt_target_nowait_query(void** handle) {
  Operation* o = *handle;
  CHECK(o != NULL && !get(&o->ended));
  if (add(&o->polls, 1) < POLLS || !get(&o->host_done)) return;
  add(&in_flight, -1);
  set(&o->ended, 1);
  *handle = NULL;
}

/* The body of a target task, as libomptarget's __tgt_target_kernel with `nowait` does it. */
static int32_t start_operation(int32_t thread, Block* block) {
  Operation* o = &operations[block->number];
  CHECK_EQ(add(&o->started, 1), 1); /* never run again */
  CHECK(__kmpc_omp_has_task_team(thread));
  void** handle = __kmpc_omp_get_target_async_handle_ptr(thread);
  CHECK(handle != NULL && *handle == NULL);
  int now = add(&in_flight, 1);
  for (int most = get(&most_in_flight); now > most;)
    if (__atomic_compare_exchange_n(&most_in_flight, &most, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) break;
  *handle = o;
  return 0;
}

static void spawn_target(int number, void* dependence) {
  int32_t thread = __kmpc_global_thread_num(&kmp_here);
  Block* block = __kmpc_omp_target_task_alloc(&kmp_here, thread, 0, sizeof(Block), 0, start_operation, -1);
  block->number = number;
  Depend inout = {dependence, 1, kInout};
  if (dependence)
    __kmpc_omp_task_with_deps(&kmp_here, thread, block, 1, &inout, 0, NULL);
  else
    __kmpc_omp_task(&kmp_here, thread, block);
}

static void reset(void) {
  memset(operations, 0, sizeof operations);
  in_flight = most_in_flight = 0;
}

/* All operations are under way before the first may end. */
static void side_by_side(void) {
  reset();
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < TASKS; i++) spawn_target(i, NULL);
      for (int i = 0; i < TASKS; i++) {
#pragma omp task firstprivate(i)
        {
          while (get(&most_in_flight) < TASKS) { /* others start, over this task or beside it */
#pragma omp taskyield
          }
          set(&operations[i].host_done, 1);
        }
      }
    }
    for (int i = 0; i < TASKS; i++) CHECK(get(&operations[i].ended) && operations[i].polls >= POLLS);
  }
}

/* What depends on a target task starts when the device has done its work. */
static void ordered_by_dependences(void) {
  reset();
  char x[TASKS];
  int after = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < TASKS; i++) {
#pragma omp task depend(inout : x[i]) firstprivate(i)
      CHECK_EQ(get(&operations[i].started), 0);
      spawn_target(i, &x[i]);
#pragma omp task depend(inout : x[i]) firstprivate(i) shared(after)
      {
        CHECK(get(&operations[i].ended));
        add(&after, 1);
      }
    }
    for (int i = TASKS - 1; i >= 0; i--) {
#pragma omp task firstprivate(i)
      set(&operations[i].host_done, 1);
    }
#pragma omp taskwait
    CHECK_EQ(get(&after), TASKS);
  }
}

/* The end of a region waits for what the device does. */
static void barrier_waits(void) {
  reset();
#pragma omp parallel
  {
#pragma omp for nowait
    for (int i = 0; i < TASKS; i++) spawn_target(i, NULL);
#pragma omp for nowait
    for (int i = 0; i < TASKS; i++) set(&operations[i].host_done, 1);
  }
  for (int i = 0; i < TASKS; i++) CHECK(get(&operations[i].ended));
}

/* Outside of regions the creator goes on while the device works. */
static void outside_of_regions(void) {
  reset();
  for (int i = 0; i < TASKS; i++) spawn_target(i, NULL);
  for (int i = 0; i < TASKS; i++) set(&operations[i].host_done, 1);
#pragma omp taskwait
  for (int i = 0; i < TASKS; i++) CHECK(get(&operations[i].ended));
}

/* A proxy task completes when its completion is called for, here by a thread that the runtime does not know. */
static int completed;

static void* complete(void* block) {
  set(&completed, 1);
  __kmpc_proxy_task_completed_ooo(block);
  return NULL;
}

static int32_t start_proxy(int32_t thread, Block* block) {
  (void)thread;
  pthread_t other;
  CHECK_EQ(pthread_create(&other, NULL, complete, block), 0);
  CHECK_EQ(pthread_detach(other), 0);
  return 0;
}

static void proxies(void) {
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 10; i++) {
    char x;
    completed = 0;
    int32_t thread = __kmpc_global_thread_num(&kmp_here);
    Block* block = __kmpc_omp_task_alloc(&kmp_here, thread, kProxy | kTied, sizeof(Block), 0, start_proxy);
    Depend inout = {&x, 1, kInout};
    __kmpc_omp_task_with_deps(&kmp_here, thread, block, 1, &inout, 0, NULL);
#pragma omp task depend(inout : x)
    CHECK(get(&completed));
#pragma omp taskwait
    CHECK(get(&completed));
  }
}

int main(int argc, char** argv) {
  CHECK_EQ(__kmpc_get_target_offload(), 1);
  if (argc > 1 && strcmp(argv[1], "proxies") == 0) {
    proxies();
    return 0;
  }
  side_by_side();
  ordered_by_dependences();
  barrier_waits();
  outside_of_regions();
  return 0;
}
