/* SPDX-License-Identifier: Apache-2.0
 *
 * What ompt_get_task_info says of the tasks on a thread's stack: who they are, and between which frames the runtime's
 * own lie (OpenMP 5.2, sections 19.4.4.29 and 19.6.1.14).
 *
 * Covers: parallel, task, task(if, depend:in/out), taskwait, barrier
 */
#define TOOL_LOOKS_UP
#include "../tool.h"
#include <omp.h>

static ompt_get_task_info_t task_info;
static ompt_get_parallel_info_t parallel_info;
static _Atomic int created, opened;

struct level {
  int flags, thread;
  ompt_data_t *task, *parallel;
  ompt_frame_t* frame;
};

static struct level level_at(int number) {
  struct level l;
  CHECK_EQ(task_info(number, &l.flags, &l.task, &l.frame, &l.parallel, &l.thread), 2);
  CHECK(l.task != NULL && l.frame != NULL);
  return l;
}

/* Each task gets a number of its own, so that it is known again. */
static void on_implicit(ompt_scope_endpoint_t endpoint, ompt_data_t* parallel, ompt_data_t* task, unsigned size,
                        unsigned index, int flags) {
  if (endpoint != ompt_scope_begin) return;
  CHECK(task->value == 0 && parallel != NULL && size >= 1);
  task->value = flags & ompt_task_initial ? 1000 : 100 + index;
}

static void on_create(ompt_data_t* parent, const ompt_frame_t* frame, ompt_data_t* task, int flags, int dependent,
                      const void* code) {
  CHECK(parent != NULL && task->value == 0 && code != NULL && (dependent & ~1) == 0);
  CHECK(frame->enter_frame.ptr != NULL); /* the parent is in the runtime */
  if (!(flags & ompt_task_taskwait))     /* libomp 19 must find that one's data as it was */
    task->value = 2;
  created++;
}

static void on_parallel(ompt_data_t* task, const ompt_frame_t* frame, ompt_data_t* parallel, unsigned requested,
                        int flags, const void* code) {
  CHECK(task != NULL && parallel != NULL && requested != 0 && (flags & ompt_parallel_team) && code != NULL);
  CHECK(frame->enter_frame.ptr != NULL);
  opened++;
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  CHECK_EQ(set_callback(ompt_callback_implicit_task, (ompt_callback_t)on_implicit), ompt_set_always);
  CHECK_EQ(set_callback(ompt_callback_task_create, (ompt_callback_t)on_create), ompt_set_always);
  CHECK_EQ(set_callback(ompt_callback_parallel_begin, (ompt_callback_t)on_parallel), ompt_set_always);
}

static void tool_lookup(ompt_function_lookup_t lookup) {
  task_info = (ompt_get_task_info_t)lookup("ompt_get_task_info");
  parallel_info = (ompt_get_parallel_info_t)lookup("ompt_get_parallel_info");
}

/* A task's code runs below its exit frame (stacks grow downwards) and is not in the runtime. */
static void check_running(const struct level* l, const void* local) {
  CHECK(l->frame->enter_frame.ptr == NULL);
  if (!(l->flags & ompt_task_initial)) CHECK((const char*)l->frame->exit_frame.ptr > (const char*)local);
}

/* The code on top of a task began at or below the stack address where the task entered the runtime. */
static void check_beneath(const struct level* l, const struct level* above) {
  CHECK(l->frame->enter_frame.ptr != NULL);
  CHECK((const char*)above->frame->exit_frame.ptr <= (const char*)l->frame->enter_frame.ptr);
}

static void check_region(void) {
  int local = omp_get_thread_num(), size = 0;
  struct level mine = level_at(0), opener = level_at(1);
  ompt_data_t* parallel;
  CHECK((mine.flags & ompt_task_implicit) && mine.task->value == 100 + (uint64_t)local && mine.thread == local);
  check_running(&mine, &local);
  CHECK((opener.flags & ompt_task_initial) && opener.task->value == 1000 && opener.thread == 0);
  CHECK(opener.frame->exit_frame.ptr == NULL && opener.frame->enter_frame.ptr != NULL);
  if (local == 0) check_beneath(&opener, &mine);
  CHECK_EQ(task_info(2, NULL, NULL, NULL, NULL, NULL), 0);
  CHECK_EQ(parallel_info(0, &parallel, &size), 2);
  CHECK(parallel == mine.parallel && size == omp_get_num_threads());
  CHECK_EQ(parallel_info(1, &parallel, &size), 2);
  CHECK(parallel == opener.parallel && size == 1);
  CHECK_EQ(parallel_info(2, NULL, NULL), 0);
}

/* Clang runs an undeferred task in line, in a frame of the program's. */
static int is_in_program(const struct level* l) { return (l->frame->exit_frame_flags & ompt_frame_application) != 0; }

/* In an undeferred task: its creator is right beneath it. */
static void check_undeferred(void) {
  int local = omp_get_thread_num();
  struct level mine = level_at(0), creator = level_at(1), opener = level_at(2);
  CHECK((mine.flags & ompt_task_explicit) && (mine.flags & ompt_task_undeferred) && mine.thread == local);
  CHECK_EQ(mine.task->value, 2);
  CHECK_EQ(creator.task->value, 100 + (uint64_t)local);
  CHECK(creator.frame->exit_frame.ptr != NULL && creator.frame->enter_frame.ptr != NULL);
  CHECK_EQ(opener.task->value, 1000);
#ifdef __clang__
  CHECK(is_in_program(&mine));
#else
  CHECK(!is_in_program(&mine));
#endif
  CHECK(!is_in_program(&creator));
}

/* In a deferred one: beneath it is what its thread was in. */
static void check_deferred(void) {
  int local = omp_get_thread_num(), levels = 0;
  struct level mine = level_at(0);
  CHECK((mine.flags & ompt_task_explicit) && mine.thread == local && mine.task->value == 2);
  CHECK(!is_in_program(&mine));
  check_running(&mine, &local);
  while (task_info(levels + 1, NULL, NULL, NULL, NULL, NULL) != 0) ++levels;
  CHECK(levels >= 2);
  struct level last = level_at(levels), region = level_at(levels - 1);
  CHECK_EQ(last.task->value, 1000);
  CHECK(region.flags & ompt_task_implicit);
  CHECK_EQ(region.task->value, 100 + (uint64_t)local);
}

int main(void) {
  int x = 0;
  (void)x;
  omp_get_max_threads();
#pragma omp parallel
  check_region();
#pragma omp parallel
  {
#pragma omp task if (0)
    check_undeferred();
#pragma omp task if (0) depend(out : x)
    check_undeferred();
    struct level mine = level_at(0);
    check_running(&mine, &mine);
#pragma omp barrier
    mine = level_at(0);
    check_running(&mine, &mine);
#pragma omp single
    {
      for (int i = 0; i < 20; i++)
#pragma omp task depend(in : x)
        check_deferred();
#pragma omp taskwait
    }
  }
  struct level initial = level_at(0);
  CHECK(initial.frame->enter_frame.ptr == NULL && initial.frame->exit_frame.ptr == NULL);
  CHECK(created >= 22 && opened == 2);
  return 0;
}
