/* SPDX-License-Identifier: Apache-2.0
 *
 * Data-sharing clauses and the allocate clause on every construct that takes them: a private copy is not shared with
 * any other thread, a firstprivate one begins with the original's value, and the original stays as it was.
 *
 * Covers: parallel(default, private, firstprivate, allocate), for(private, firstprivate, allocate), task(default,
 *  private, allocate), taskloop(default, private, firstprivate, allocate), sections(private, firstprivate),
 *  single(private, firstprivate, allocate)
 */
#include "../check.h"
#include <omp.h>

enum { kIterations = 100 };

static void on_parallel(void) {
  int original = 7, mine = 1, sum = 0, team = 0;
#pragma omp parallel default(none) shared(sum, team) private(mine) firstprivate(original) \
    allocate(omp_default_mem_alloc : mine, original)
  {
    mine = omp_get_thread_num();
    original += mine;
#pragma omp single
    team = omp_get_num_threads();
#pragma omp barrier
    CHECK_EQ(mine, omp_get_thread_num());
    CHECK_EQ(original, 7 + mine);
#pragma omp atomic
    sum += original - 7;
  }
  CHECK_EQ(sum, team * (team - 1) / 2);
  CHECK_EQ(original, 7);
  CHECK_EQ(mine, 1);
}

static void on_loops(void) {
  int scratch = 5, base = 10, sum = 0;
#pragma omp parallel shared(scratch, base)
  {
#pragma omp for private(scratch) firstprivate(base) allocate(omp_default_mem_alloc : base) schedule(dynamic)
    for (int i = 0; i < kIterations; i++) {
      scratch = i;
      base += 0;
#pragma omp atomic
      sum += scratch + base;
    }
  }
  CHECK_EQ(sum, kIterations * (kIterations - 1) / 2 + kIterations * 10);
  CHECK_EQ(scratch, 5);
  CHECK_EQ(base, 10);
}

static void on_sections_and_single(void) {
  int scratch = 5, base = 10, sum = 0;
#pragma omp parallel shared(scratch, base)
  {
#pragma omp sections private(scratch) firstprivate(base)
    {
#pragma omp section
      {
        scratch = base + 1;
#pragma omp atomic
        sum += scratch;
      }
#pragma omp section
      {
        scratch = base + 2;
#pragma omp atomic
        sum += scratch;
      }
    }
#pragma omp single private(scratch) firstprivate(base) allocate(omp_default_mem_alloc : base)
    {
      scratch = ++base;
#pragma omp atomic
      sum += scratch;
    }
  }
  CHECK_EQ(sum, 11 + 12 + 11);
  CHECK_EQ(scratch, 5);
  CHECK_EQ(base, 10);
}

static void on_tasks(void) {
  int scratch = 5, base = 10, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kIterations; i++) {
#pragma omp task default(none) shared(sum) private(scratch) firstprivate(i, base) allocate(omp_default_mem_alloc : base)
      {
        scratch = i;
#pragma omp taskyield
        base += scratch;
#pragma omp atomic
        sum += base;
      }
    }
#pragma omp taskwait
    CHECK_EQ(sum, kIterations * (kIterations - 1) / 2 + kIterations * 10);
    sum = 0;
#pragma omp taskloop default(none) shared(sum) private(scratch) firstprivate(base) grainsize(7) \
    allocate(omp_default_mem_alloc : base)
    for (int i = 0; i < kIterations; i++) {
      scratch = i + base;
#pragma omp atomic
      sum += scratch;
    }
    CHECK_EQ(sum, kIterations * (kIterations - 1) / 2 + kIterations * 10);
  }
  CHECK_EQ(scratch, 5);
  CHECK_EQ(base, 10);
}

int main(void) {
  on_parallel();
  on_loops();
  on_sections_and_single();
  on_tasks();
  return 0;
}
