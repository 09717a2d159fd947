// SPDX-License-Identifier: Apache-2.0
//
// tests/e2e/trace/test_counters.py: tasks of two kinds. Each says how much work its thread has done (work_done, for
// fake_papi.c), and touches as many new pages as it does work, which the kernel counts. `parent` waits for a child in
// between; what the child does must not be its. Recording is off for the last task.
#include <marline/trace.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kTasks = 20, kHeavy = 32, kParent = 3, kOutside = 5, kPage = 4096 };

static _Thread_local long long done;
static _Thread_local volatile int nothing;
long long work_done(void) { return done; }

static void work(int units) {
  volatile char* pages = mmap(NULL, (size_t)units * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) abort();
  madvise((void*)pages, (size_t)units * kPage, MADV_NOHUGEPAGE);
  for (int i = 0; i < units; ++i) pages[(size_t)i * kPage] = 1;
  munmap((void*)pages, (size_t)units * kPage);
  done += units;
}

static void heavy(void) {
  marline_name_task("heavy", 0);
#pragma omp task
  work(kHeavy);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kTasks; ++i) {
      heavy();
      marline_name_task("light", 0);
#pragma omp task
      ++nothing;
    }
    work(kOutside);
    marline_name_task("parent", 0);
#pragma omp task
    {
      work(kParent);
      heavy();
#pragma omp taskwait
      work(kParent);
    }
#pragma omp taskwait
    marline_trace_off();
    heavy();
#pragma omp taskwait
    marline_trace_on();
    marline_name_task("light", 0);
#pragma omp task
    ++nothing;
  }
  return 0;
}
