/* SPDX-License-Identifier: Apache-2.0
 *
 * threadprivate variables and copyin: one copy per thread of the team, kept between regions of the same size, and the
 * copy that a tied task sees is the one of the thread that executes it.
 *
 * Covers: parallel(num_threads, copyin), threadprivate, omp_get_thread_num
 */
#include "../check.h"
#include <omp.h>

typedef struct {
  int id;
  double values[20];
} Record;

static int counter = 7;
static Record record = {3, {1.5}};
#pragma omp threadprivate(counter, record)

static void persistence(int n) {
#pragma omp parallel num_threads(n)
  {
    counter = 100 + omp_get_thread_num();
    record.id = -omp_get_thread_num();
  }
#pragma omp parallel num_threads(n)
  {
    CHECK_EQ(counter, 100 + omp_get_thread_num());
    CHECK_EQ(record.id, -omp_get_thread_num());
  }
}

static void copy_in(int n) {
  counter = 42;
  record.id = 43;
  record.values[19] = 44;
#pragma omp parallel num_threads(n) copyin(counter, record)
  {
    CHECK_EQ(counter, 42);
    CHECK_EQ(record.id, 43);
    CHECK_EQ(record.values[19], 44);
#pragma omp barrier
    counter += omp_get_thread_num();
#pragma omp barrier
    CHECK_EQ(counter, 42 + omp_get_thread_num());
  }
  CHECK_EQ(counter, 42);
}

static void tied_tasks(int n) {
#pragma omp parallel num_threads(n)
  {
    counter = omp_get_thread_num();
#pragma omp barrier
#pragma omp single
    for (int t = 0; t < 100; t++) {
#pragma omp task
      CHECK_EQ(counter, omp_get_thread_num());
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  for (int round = 0; round < 5; round++) {
    persistence(n);
    copy_in(n);
    tied_tasks(n);
  }
  return 0;
}
