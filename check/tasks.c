/* SPDX-License-Identifier: Apache-2.0
 *
 * Gives each task a number and remembers its construct, in the word that OMPT keeps for tools in a task. The word is
 * written by the thread that creates or begins the task, before the task runs.
 */
#include "tasks.h"

#include "lock.h"
#include "../common/thread_id.h"

#include <stdatomic.h>
#include <unistd.h>

/* A holder: the number of a construct in the low bits, the task's own number above; or, with the top bit, a thread's
 * number. */
enum { kConstructBits = 12, kConstructs = 1 << kConstructBits };
static const uint64_t kThread = UINT64_C(1) << 63;

/* A hash table with open addressing. Entry 0 means "unknown", also for a construct that finds no room. Written under
 * the lock; an entry does not change once its number has been given away. */
static Construct constructs[kConstructs];
static bool used[kConstructs];
static Lock constructs_lock; /* taken once per task, for some 20 ns */

static _Atomic uint64_t last_task;
static ompt_get_task_info_t task_info; /* null until the tool is initialised */
static int (*task_name)(const char** label, uint32_t* color);
static TaskMade on_made;
static RegionBegun on_region;

static uint64_t number_of(Construct construct) {
  enum { kProbes = 64 };
  const uint64_t spread = ((uintptr_t)construct.code ^ (uintptr_t)construct.label << 7) * 0x9e3779b97f4a7c15ULL;
  uint64_t slot = spread >> (64 - kConstructBits);
  uint64_t number = 0;
  lock_take(&constructs_lock);
  for (int probe = 0; probe < kProbes && number == 0; ++probe, slot = (slot + 1) % kConstructs) {
    if (slot == 0) continue;
    if (!used[slot]) {
      used[slot] = true;
      constructs[slot] = construct;
    }
    const Construct* there = &constructs[slot];
    if (there->code == construct.code && there->label == construct.label && there->implicit == construct.implicit)
      number = slot;
  }
  lock_give(&constructs_lock);
  return number;
}

static uint64_t new_task(uint64_t construct) {
  const uint64_t number = atomic_fetch_add_explicit(&last_task, 1, memory_order_relaxed) + 1;
  return number << kConstructBits | construct;
}

bool is_task(uint64_t holder) { return (holder & kThread) == 0; }

const Construct* construct_of(uint64_t task) { return &constructs[task & (kConstructs - 1)]; }

static uint64_t this_thread(void) {
  static _Thread_local uint64_t number __attribute__((tls_model("initial-exec")));
  if (number == 0) number = kThread | (uint64_t)thread_id();
  return number;
}

uint64_t current_holder(void) {
  ompt_data_t* data = NULL;
  int flags = 0;
  if (task_info == NULL || task_info(0, &flags, &data, NULL, NULL, NULL) == 0 || data == NULL ||
      (flags & ompt_task_initial) != 0)
    return this_thread();
  if (data->value == 0) /* begun before the tool was initialised */
    data->value = new_task(0);
  return data->value;
}

static void on_task_create(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* task, int flags,
                           int has_dependences, const void* code) {
  (void)frame, (void)has_dependences;
  Construct construct = {.code = code};
  uint32_t color;
  if (task_name == NULL || task_name(&construct.label, &color) == 0) construct.label = NULL;
  task->value = new_task(number_of(construct));
  on_made(encountering, task, flags);
}

static void on_parallel_begin(ompt_data_t* encountering, const ompt_frame_t* frame, ompt_data_t* parallel,
                              unsigned threads, int flags, const void* code) {
  (void)frame, (void)threads, (void)flags;
  parallel->value = number_of((Construct){.code = code, .implicit = true});
  on_region(encountering);
}

static void on_implicit_task(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned threads,
                             unsigned index, int flags) {
  (void)threads, (void)index, (void)flags;
  if (endpoint == ompt_scope_begin && task != NULL) task->value = new_task(parallel != NULL ? parallel->value : 0);
}

void tasks_begin(ompt_function_lookup_t lookup, TaskMade made, RegionBegun region) {
  on_made = made;
  on_region = region;
  ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
  task_name = (int (*)(const char**, uint32_t*))lookup("marline_task_info");
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  set(ompt_callback_task_create, (ompt_callback_t)on_task_create);
  set(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel_begin);
  set(ompt_callback_implicit_task, (ompt_callback_t)on_implicit_task);
}
