/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads meet the program's first target regions at the same time: one inside dlopen, in a constructor of the
 * library that it opens, the other elsewhere. Both get their devices.
 *
 * Covers: target(map), parallel
 */
#include "../../check.h"

#include <pthread.h>
#include <unistd.h>

int constructor_runs = 0; /* set by the library */
int from_constructor = 0;
static int is_ready = 0;

/* For this thread, but not the devices. */
static void start_runtime(void) {
  int threads = 0;
#pragma omp parallel num_threads(2) reduction(+ : threads)
  threads++;
  CHECK(threads >= 1);
}

static void* elsewhere(void* unused) {
  int value = 1;
  start_runtime();
  __atomic_store_n(&is_ready, 1, __ATOMIC_RELEASE);
  while (!__atomic_load_n(&constructor_runs, __ATOMIC_ACQUIRE)) usleep(1000);
#pragma omp target map(tofrom : value)
  value++;
  CHECK_EQ(value, 2);
  return unused;
}

int main(int argc, char** argv) {
  pthread_t other;
  CHECK_EQ(argc, 2);
  CHECK_EQ(pthread_create(&other, NULL, elsewhere, NULL), 0);
  start_runtime();
  while (!__atomic_load_n(&is_ready, __ATOMIC_ACQUIRE)) usleep(1000);
  if (!dlopen(argv[1], RTLD_NOW)) check_failed(__FILE__, __LINE__, "%s", dlerror());
  CHECK_EQ(pthread_join(other, NULL), 0);
  CHECK_EQ(from_constructor, 6);
  return 0;
}
