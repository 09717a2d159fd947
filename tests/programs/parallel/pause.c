/* SPDX-License-Identifier: Apache-2.0
 *
 * omp_pause_resource_all ends the threads that wait for the next region: what a thread's end calls back is called.
 * Regions after that have all their threads. Also while other threads of the program open and close regions, and after
 * threads of the program have ended: the new threads take their places.
 *
 * Covers: omp_pause_resource, omp_pause_resource_all, threadprivate
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

static pthread_key_t key;
static int ended, threads;
static int own = 17;
#pragma omp threadprivate(own)

static void count_end(void* unused) {
  (void)unused;
  __atomic_add_fetch(&ended, 1, __ATOMIC_ACQ_REL);
}

static void region(void) {
  int members = 0;
#pragma omp parallel num_threads(threads) reduction(+ : members)
  {
    CHECK_EQ(omp_get_num_threads(), threads);
    members++;
    own += 1 + omp_get_thread_num();
    pthread_setspecific(key, &key);
#pragma omp barrier
#pragma omp single nowait
    for (int i = 0; i < 20; i++) {
#pragma omp task
      sched_yield();
    }
  }
  CHECK_EQ(members, threads);
}

static void wait_for_ends(int expected) {
  time_t since = time(NULL);
  while (__atomic_load_n(&ended, __ATOMIC_ACQUIRE) < expected) {
    CHECK(time(NULL) - since < 30);
    sched_yield();
  }
}

static void pause_between_regions(void) {
  enum { kRounds = 10 };
  for (int round = 1; round <= kRounds; round++) {
    region();
    region();
    CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
    wait_for_ends(round * (threads - 1));
  }
  CHECK_EQ(ended, kRounds * (threads - 1));
#pragma omp parallel num_threads(threads)
  {
    CHECK_EQ(omp_pause_resource(omp_pause_soft, omp_get_initial_device()) != 0, 1);
    if (omp_get_thread_num() != 0) CHECK_EQ(own, 17);
  }
}

static void* root(void* unused) {
  (void)unused;
  for (int i = 0; i < 10; i++) {
    region();
    if (i % 3 == 0) CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
  }
  return NULL;
}

static void beside_others(void) {
  for (int round = 0; round < 3; round++) {
    pthread_t others[3];
    for (int i = 0; i < 3; i++) CHECK_EQ(pthread_create(&others[i], NULL, root, NULL), 0);
    root(NULL);
    for (int i = 0; i < 3; i++) pthread_join(others[i], NULL);
    region();
  }
}

int main(void) {
  omp_set_dynamic(0);
  threads = omp_get_max_threads();
  CHECK_EQ(pthread_key_create(&key, count_end), 0);
  pause_between_regions();
  beside_others();
  return 0;
}
