/* SPDX-License-Identifier: Apache-2.0
 *
 * For a debugger. In the order of the stops in stop_here(), whose argument says where:
 *   1  before the first region                        2  in thread 1 of two, inside the region of outer()
 *   3  in a region of one inside that one             4  in an explicit task, created in a final one if FINAL is set
 *   5  in a task with if(0), inside that task         6  after the regions, in the initial task
 * The other threads wait meanwhile: at 2 and 3 thread 0 is in taskwait or in the barrier at the region's end, at 4 and 5
 * all other threads wait at a barrier or run. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int arrived;

/* Or ends the process with a core file. */
__attribute__((noinline)) void stop_here(int where) {
  const char* core_at = getenv("ABORTS_AT");
  if (core_at && atoi(core_at) == where) abort();
  __asm__ volatile("" ::"r"(where) : "memory");
}

__attribute__((noinline)) static void inner(void) {
#pragma omp parallel num_threads(1)
  stop_here(3);
}

__attribute__((noinline)) static void outer(void) {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    while (!__atomic_load_n(&arrived, __ATOMIC_ACQUIRE)) sched_yield();
    stop_here(2);
    inner();
  } else {
    __atomic_store_n(&arrived, 1, __ATOMIC_RELEASE);
  }
}

__attribute__((noinline)) static void tasks(void) {
  const int final_one = getenv("FINAL") != NULL;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task final(final_one)
    {
#pragma omp task
      {
        stop_here(4);
#pragma omp task if (0)
        stop_here(5);
      }
#pragma omp taskwait
    }
  }
}

int main(void) {
  omp_set_max_active_levels(3);
  omp_set_schedule(omp_sched_dynamic, 7);
  stop_here(1);
  outer();
  tasks();
  stop_here(6);
  puts("done");
  return 0;
}
