/* SPDX-License-Identifier: Apache-2.0
 *
 * Unwinders work in tasks. Called in a task that runs on a fiber, before and after it was suspended, glibc's
 * backtrace() and the C++ ABI's _Unwind_Backtrace() find the task's functions and then come to an end at the base of
 * the fiber.
 *
 * Covers: marline suspension
 */
#include "../check.h"
#include <execinfo.h>
#include <marline/marline.h>
#include <omp.h>
#include <unwind.h>

enum { kFrames = 128, kTasks = 8 };

static int arrived, returned;

static int names(void* address, const char* function) {
  Dl_info info;
  return dladdr(address, &info) && info.dli_sname && strcmp(info.dli_sname, function) == 0;
}

typedef struct {
  int frames, outer, middle;
  uintptr_t last_cfa;
} Walk;

static _Unwind_Reason_Code visit(struct _Unwind_Context* context, void* argument) {
  Walk* walk = argument;
  uintptr_t cfa = _Unwind_GetCFA(context);
  CHECK(cfa >= walk->last_cfa); /* up one stack, never over to another */
  CHECK(walk->frames == 0 || cfa - walk->last_cfa < 1 << 20);
  walk->last_cfa = cfa;
  void* at = (void*)(_Unwind_GetIP(context) - 1);
  walk->outer += names(at, "outer_function");
  walk->middle += names(at, "middle_function");
  return ++walk->frames < kFrames ? _URC_NO_REASON : _URC_NORMAL_STOP;
}

__attribute__((noinline)) static void look_back(void) {
  void* frames[kFrames];
  int count = backtrace(frames, kFrames), outer = 0, middle = 0;
  CHECK_RANGE(count, 4, kFrames - 1); /* all of them: it came to the end by itself */
  for (int i = 0; i < count; i++) {
    outer += names((char*)frames[i] - 1, "outer_function");
    middle += names((char*)frames[i] - 1, "middle_function");
    CHECK(frames[i] != NULL || i == count - 1); /* at the end glibc may give the undefined address */
  }
  CHECK_EQ(outer, 1);
  CHECK_EQ(middle, 1);
  Walk walk = {0};
  _Unwind_Reason_Code end = _Unwind_Backtrace(visit, &walk);
  CHECK_EQ(end, _URC_END_OF_STACK);
  CHECK_RANGE(walk.frames, 4, kFrames - 1);
  CHECK_EQ(walk.outer, 1);
  CHECK_EQ(walk.middle, 1);
}

__attribute__((noinline)) void middle_function(marline_event_t* event) {
  look_back();
  __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
  marline_event_wait(event);
  look_back();
  __atomic_add_fetch(&returned, 1, __ATOMIC_RELAXED);
}

__attribute__((noinline)) void outer_function(marline_event_t* event) {
  middle_function(event);
  __asm__ volatile(""); /* no tail call */
}

static void suspend_all(int untied) {
  static marline_event_t events[kTasks];
  arrived = returned = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int t = 0; t < kTasks; t++) {
      marline_event_init(&events[t]);
      if (untied) {
#pragma omp task untied firstprivate(t)
        outer_function(&events[t]);
      } else {
#pragma omp task firstprivate(t)
        outer_function(&events[t]);
      }
    }
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < kTasks) {
#pragma omp taskyield
    }
    for (int t = 0; t < kTasks; t++) marline_event_fulfill(&events[t]);
  }
  CHECK_EQ(returned, kTasks);
}

int main(void) {
  suspend_all(1);
  suspend_all(0);
  return 0;
}
