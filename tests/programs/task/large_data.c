/* SPDX-License-Identifier: Apache-2.0
 *
 * Private data of ended tasks is used again: 64 KiB per task must not cost a mapping and its page faults each time. It
 * goes back when there is no more work. What a task reads is its own, whoever ran before it.
 *
 * Covers: task(firstprivate)
 */
#include "../resident.h"
#include <omp.h>
#include <sys/resource.h>

enum { kTasks = 2000, kBatch = 16, kWords = 8192, kFaultsPerTask = 5 }; /* a new block has 17 pages */
enum { kLargeTasks = 96, kLargeWords = 1 << 17, kSlackBytes = 32 << 20 };

typedef struct {
  long words[kWords];
} Data;

typedef struct {
  long words[kLargeWords];
} LargeData;

static long faults(void) {
  struct rusage usage;
  CHECK_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_minflt;
}

static Data data;
static LargeData large;

static long create(int tasks) {
  long wrong = 0;
  for (int t = 0; t < tasks; t++) {
    data.words[0] = t;
    data.words[kWords / 2] = t + 1;
    data.words[kWords - 1] = t + 2;
#pragma omp task firstprivate(data, t) shared(wrong)
    {
      if (data.words[0] != t || data.words[kWords / 2] != t + 1 || data.words[kWords - 1] != t + 2)
        __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
      memset(&data, -1, sizeof data);
    }
    if (t % kBatch == kBatch - 1) {
#pragma omp taskwait
    }
  }
#pragma omp taskwait
  return wrong;
}

static void expect_few_faults(void) {
  long wrong = 0, before = 0, after = 0;
#pragma omp parallel
#pragma omp master
  {
    wrong = create(kTasks / 10);
    before = faults();
    wrong += create(kTasks);
    after = faults();
  }
  CHECK_EQ(wrong, 0);
  printf("%.2f page faults per task\n", (double)(after - before) / kTasks);
  CHECK_RANGE(after - before, 0, kTasks * kFaultsPerTask);
}

/* All of them at once; threads that fall asleep after the region give back what is kept. One alone does not fall
 * asleep. */
static void expect_memory_back(int threads) {
  long before = resident_bytes(), ran = 0;
#pragma omp parallel
#pragma omp master
  for (int t = 0; t < kLargeTasks; t++) {
    large.words[0] = large.words[kLargeWords - 1] = 1;
#pragma omp task firstprivate(large) shared(ran)
    __atomic_add_fetch(&ran, large.words[0] + large.words[kLargeWords - 1], __ATOMIC_RELAXED);
  }
  CHECK_EQ(ran, 2 * kLargeTasks);
  for (int i = 0; threads > 1 && i < 2000 && resident_bytes() > before + kSlackBytes; i++) usleep(10 * 1000);
  printf("%ld MiB more than before\n", (resident_bytes() - before) >> 20);
  CHECK(threads == 1 || resident_bytes() <= before + kSlackBytes);
}

int main(void) {
  memset(&data, 1, sizeof data);
  memset(&large, 1, sizeof large);
  int threads = 1;
#pragma omp parallel
#pragma omp master
  threads = omp_get_num_threads();
  expect_few_faults();
  expect_memory_back(threads);
  return 0;
}
