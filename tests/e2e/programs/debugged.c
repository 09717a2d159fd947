/* SPDX-License-Identifier: Apache-2.0
 *
 * For a debugger. In the order of the stops in stop_here(), whose argument says where:
 *   1  before the first region
 *   2  in thread 1 of the region of outer(), when thread 0 has come to the barrier at its end
 *   3  in a region of one thread inside that one
 *   4  in an explicit task inside another one, which is final if FINAL is set; thread 1 does not help
 *   5  in a task with if(0), inside that task
 *   6  after the regions, in the initial task */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline)) void stop_here(int where) { __asm__ volatile("" ::"r"(where) : "memory"); }

static int arrived;

/* Thread 0 calls nothing that sleeps before it is at the barrier. */
static int first_thread_sleeps(void) {
  char path[64], state = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
  FILE* file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1) exit(3);
  fclose(file);
  return state == 'S';
}

__attribute__((noinline)) static void inner(void) {
#pragma omp parallel num_threads(1)
  stop_here(3);
}

__attribute__((noinline)) static void outer(void) {
#pragma omp parallel
  if (omp_get_thread_num() == 1) {
    while (!__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) || !first_thread_sleeps()) sched_yield();
    stop_here(2);
    inner();
  } else if (omp_get_thread_num() == 0) {
    __atomic_store_n(&arrived, 1, __ATOMIC_RELEASE);
  }
}

__attribute__((noinline)) static void tasks(void) {
  const int final_one = getenv("FINAL") != NULL;
  int done = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
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
#pragma omp taskwait
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
  } else {
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) sched_yield();
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
