/* SPDX-License-Identifier: Apache-2.0
 *
 * Thousands of threads of the program's own, each of which opens regions, nested ones, tasks and locks, and ends: what
 * the process holds for them, threads and memory, does not grow with their number.
 *
 * Covers: marline process, parallel(num_threads), task
 */
#include "../resident.h"
#include <dirent.h>
#include <omp.h>
#include <pthread.h>

enum { kWarmUp = 300, kThreads = 1500, kAtATime = 3, kGrowthKiB = 12288 };

static int kernel_threads(void) {
  int count = 0;
  DIR* folder = opendir("/proc/self/task");
  CHECK(folder != NULL);
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void* live(void* argument) {
  int members = 0, inner = 0, tasks = 0;
  omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : members, inner)
  {
    members++;
#pragma omp parallel num_threads(2) reduction(+ : inner)
    inner++;
#pragma omp single
    for (int i = 0; i < 8; i++) {
#pragma omp task shared(tasks)
      {
#pragma omp atomic
        tasks++;
      }
    }
  }
  CHECK_EQ(members, 2);
  CHECK_EQ(inner, 4);
  CHECK_EQ(tasks, 8);
  return argument;
}

static void generations(int threads) {
  for (int begun = 0; begun < threads; begun += kAtATime) {
    pthread_t thread[kAtATime];
    for (int i = 0; i < kAtATime; i++) CHECK_EQ(pthread_create(&thread[i], NULL, live, NULL), 0);
    for (int i = 0; i < kAtATime; i++) CHECK_EQ(pthread_join(thread[i], NULL), 0);
  }
}

int main(void) {
  omp_set_dynamic(0);
  generations(kWarmUp);
  long before = resident_kib();
  generations(kThreads);
  CHECK_RANGE(resident_kib() - before, -1000000, kGrowthKiB);
  CHECK_RANGE(kernel_threads(), 1, 1 + kAtATime * 4 + 8);
  return 0;
}
