/* SPDX-License-Identifier: Apache-2.0
 *
 * Many regions: one after the other, of one size and of changing sizes; serialised ones inside one another, and active
 * ones inside one another. Memory does not grow with their number. Usage: regions REGIONS
 *
 * Covers: parallel(num_threads, if), omp_get_level, omp_get_active_level
 */
#include "../resident.h"
#include <omp.h>
#include <pthread.h>

enum { kGrowthKiB = 4096, kActiveLevels = 100, kBytesPerLevel = 4096 };

static void in_sequence(long regions, int most) {
  long members = 0, expected = 0;
  for (long i = 0; i < regions; i++) {
    int threads = 1 + (int)(i / 100 % most);
    expected += threads;
#pragma omp parallel num_threads(threads) shared(members)
#pragma omp atomic
    members++;
  }
  CHECK_EQ(members, expected);
}

static long serialised_levels;

static long serialised(long level) {
  long inner = 0;
#pragma omp parallel if (0) shared(inner)
  {
    CHECK_EQ(omp_get_level(), level + 1);
    CHECK_EQ(omp_get_active_level(), 0);
    inner = level + 1 < serialised_levels ? serialised(level + 1) : 0;
  }
  CHECK_EQ(omp_get_level(), level);
  return inner + 1;
}

static void* serialised_thread(void* argument) {
  for (int round = 0; round < 2; round++) CHECK_EQ(serialised(0), serialised_levels);
  return argument;
}

/* Deeper than the main thread's stack: on a thread of its own. */
static void serialised_deeply(long levels) {
  pthread_t thread;
  pthread_attr_t large;
  serialised_levels = levels;
  CHECK_EQ(pthread_attr_init(&large), 0);
  CHECK_EQ(pthread_attr_setstacksize(&large, (size_t)levels * kBytesPerLevel + (16 << 20)), 0);
  CHECK_EQ(pthread_create(&thread, &large, serialised_thread, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&large);
}

static int active(int level) {
  int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
  {
    CHECK_EQ(omp_get_num_threads(), 2);
    CHECK_EQ(omp_get_active_level(), level + 1);
    members = 1;
    if (omp_get_thread_num() == level % 2 && level + 1 < kActiveLevels) members += active(level + 1);
  }
  return members;
}

int main(int argc, char** argv) {
  CHECK_EQ(argc, 2);
  long regions = atol(argv[1]);
  int most = omp_get_max_threads();
  omp_set_dynamic(0);
  omp_set_max_active_levels(kActiveLevels);
  for (int round = 0; round < 2; round++) {
    long before = resident_kib();
    in_sequence(round == 0 ? regions / 10 : regions, most);
    serialised_deeply(regions / 10);
    for (int i = 0; i < 5; i++) CHECK_EQ(active(0), 2 * kActiveLevels);
    printf("round %d: %ld KiB more\n", round, resident_kib() - before);
    if (round > 0) expect_growth_below(before, kGrowthKiB);
  }
  return 0;
}
