// SPDX-License-Identifier: Apache-2.0
//
// Objects in the scopes that a cancellation leaves are destroyed on the way out, once, on every thread.
//
// Covers: cancel(parallel, for, sections, taskgroup, if), cancellation point(for, sections, taskgroup),
//  task(firstprivate, depend:inout), taskloop(grainsize, firstprivate)
#include "../check.h"

#include <omp.h>
#include <sched.h>

#include <atomic>

namespace {

std::atomic<int> living{0}, made{0};

struct Object {
  Object() { count(); }
  Object(const Object&) { count(); }
  ~Object() { --living; }
  static void count() {
    ++living;
    ++made;
  }
};

bool on;
int threads;

void wait_in_parallel(int chosen) {
#pragma omp parallel num_threads(threads)
  {
    Object outer;
    for (int i = 0; i < 2; ++i) {
      Object inner;
      if (i == 1 && omp_get_thread_num() == chosen) {
        Object innermost;
#pragma omp cancel parallel
      }
#pragma omp barrier
    }
  }
}

void in_loop(int chosen) {
  Object copied;
#pragma omp parallel num_threads(threads)
  {
#pragma omp for schedule(static, 1) firstprivate(copied)
    for (int i = 0; i < threads; ++i) {
      Object object;
      if (i == chosen) {
#pragma omp cancel for
      }
      while (on) {
        Object again;
#pragma omp cancellation point for
        sched_yield();
      }
    }
  }
}

void in_sections() {
#pragma omp parallel num_threads(threads)
  {
    Object outer;
#pragma omp sections
    {
#pragma omp section
      {
        Object object;
#pragma omp cancel sections
      }
#pragma omp section
      {
        Object object;
#pragma omp cancellation point sections
      }
    }
  }
}

void in_tasks() {
  int chain = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
#pragma omp taskgroup
  {
#pragma omp task depend(inout : chain)
    {
      Object object;
#pragma omp cancel taskgroup
    }
#pragma omp task depend(inout : chain)
    {
      Object object;
#pragma omp cancellation point taskgroup
    }
  }
}

// Tasks with copies that exist when the group is cancelled, and such as are made later.
void copies_of_tasks() {
  Object copied;
  int chain = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup
    for (int i = 0; i < 20; ++i) {
#pragma omp task firstprivate(copied, i) depend(inout : chain)
      {
        Object object;
#pragma omp cancel taskgroup if (i == 2)
      }
      if (i > 10) {
#pragma omp taskyield
      }
    }
#pragma omp taskloop grainsize(1) firstprivate(copied)
    for (int i = 0; i < 20; ++i) {
#pragma omp cancel taskgroup
    }
  }
}

}  // namespace

int main() {
  on = omp_get_cancellation() != 0;
  threads = omp_get_max_threads();
  for (int round = 0; round < 200; ++round) {
    wait_in_parallel(round % threads);
    CHECK_EQ(living, 0);
    in_loop(round % threads);
    CHECK_EQ(living, 0);
    in_sections();
    CHECK_EQ(living, 0);
    in_tasks();
    CHECK_EQ(living, 0);
    copies_of_tasks();
    CHECK_EQ(living, 0);
  }
  CHECK(made > 0);
  return 0;
}
