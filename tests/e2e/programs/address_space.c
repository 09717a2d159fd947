/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: address_space PART THREADS. Prints how many threads the region had; ends with 1 if something was computed
 * wrong. Parts: 0, regions; 1, tasks, also inner ones that are waited for; 2, the same, with blocks from malloc in
 * every thread; 3, 200 tasks that are suspended at once; 4, tasks of the initial thread that are in flight at once,
 * while the other threads' arenas, and mappings of the program, have all there is. LEAVE_NOTHING=1: tasks with 1 KiB of
 * data of which none can run.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kRegions = 20, kTasks = 5000, kInner = 100, kBlocks = 100, kSuspended = 200, kEndless = 2000000 };

static int team;
static long sum;

static void add(long what) { __atomic_add_fetch(&sum, what, __ATOMIC_RELAXED); }

static void create_tasks(void) {
  static int objects[64];
  (void)objects; /* GCC does not count a depend clause as a use */
#pragma omp single
  for (int i = 0; i < kTasks; i++) {
#pragma omp task depend(inout : objects[i % 64])
    add(1);
  }
  for (int i = 0; i < kInner; i++) {
#pragma omp task
    {
#pragma omp task
      add(1);
#pragma omp taskwait
    }
  }
}

static void use_malloc(void) {
  char* blocks[kBlocks];
  for (int i = 0; i < kBlocks; i++) {
    blocks[i] = malloc(1000);
    if (blocks[i] != NULL) memset(blocks[i], 1, 1000); /* the threads' arenas may have taken all there is */
  }
#pragma omp barrier
  for (int i = 0; i < kBlocks; i++) free(blocks[i]);
  add(1);
}

static void suspend(void) {
  int arrived = 0;
#pragma omp single
  for (int i = 0; i < kSuspended; i++) {
#pragma omp task untied shared(arrived)
    {
      __atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
      while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < kSuspended) {
#pragma omp taskyield
      }
      add(1);
    }
  }
}

static void map_the_rest(void) {
  for (size_t bytes = (size_t)1 << 30; bytes >= 4096; bytes /= 2) {
    while (mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) continue;
  }
}

static void create_late(void) {
  use_malloc();
#pragma omp barrier
#pragma omp master
  {
    map_the_rest();
    int gate = 0;
#pragma omp task shared(gate) depend(out : gate)
    while (__atomic_load_n(&gate, __ATOMIC_RELAXED) == 0) {
#pragma omp taskyield
    }
    for (int i = 0; i < kTasks; i++) {
#pragma omp task depend(in : gate)
      add(1);
    }
    __atomic_store_n(&gate, 1, __ATOMIC_RELAXED);
#pragma omp taskwait
  }
}

static void leave_nothing(void) {
  struct {
    long words[128];
  } data = {{1}};
  int gate = 0;
#pragma omp task depend(out : gate)
  while (__atomic_load_n(&gate, __ATOMIC_RELAXED) == 0) {
#pragma omp taskyield
  }
  for (int i = 0; i < kEndless; i++) {
#pragma omp task depend(in : gate) firstprivate(data)
    add(data.words[0]);
  }
  __atomic_store_n(&gate, 1, __ATOMIC_RELAXED);
}

static long run(int part, int threads) {
#pragma omp parallel num_threads(threads)
  {
#pragma omp master
    team = omp_get_num_threads();
    if (getenv("LEAVE_NOTHING") != NULL)
      leave_nothing();
    else if (part == 0)
      add(1);
    else if (part == 3)
      suspend();
    else if (part == 4)
      create_late();
    else
      create_tasks();
    if (part == 2) use_malloc();
  }
  return part == 0 ? team : part == 3 ? kSuspended : kTasks + (long)team * (part == 4 ? 1 : kInner + (part == 2));
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  long expected = 0;
  int part = atoi(argv[1]), rounds = part == 3 ? 1 : part == 0 ? kRegions : 3;
  for (int i = 0; i < rounds; i++) expected += run(part, atoi(argv[2]));
  printf("%d\n", team);
  return sum == expected ? 0 : 1;
}
