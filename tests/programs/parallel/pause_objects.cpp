/* SPDX-License-Identifier: Apache-2.0
 *
 * Destructors of threadprivate objects may use OpenMP, also on threads that omp_pause_resource_all ends. Built without
 * thread-local storage, so that the runtime keeps the objects and calls their destructors.
 *
 * Covers: omp_pause_resource_all, threadprivate
 */
#include "../check.h"
#include <omp.h>
#include <sched.h>
#include <time.h>

static int gone, members_within;

struct Owner {
  int touched = 0;
  ~Owner() {
    if (touched == 0) return;
    CHECK_EQ(omp_get_level(), 0);
    CHECK_EQ(omp_get_thread_num(), 0);
    int members = 0;
#pragma omp parallel num_threads(2) reduction(+ : members)
    members++;
    __atomic_add_fetch(&members_within, members, __ATOMIC_ACQ_REL);
    __atomic_add_fetch(&gone, 1, __ATOMIC_ACQ_REL);
  }
};

static Owner owner;
#pragma omp threadprivate(owner)

int main() {
  int threads = omp_get_max_threads();
#pragma omp parallel
  if (omp_get_thread_num() != 0) owner.touched = 1;
  CHECK_EQ(omp_pause_resource_all(omp_pause_hard), 0);
  time_t since = time(nullptr);
  while (__atomic_load_n(&gone, __ATOMIC_ACQUIRE) < threads - 1) {
    CHECK(time(nullptr) - since < 30);
    sched_yield();
  }
  CHECK(__atomic_load_n(&members_within, __ATOMIC_ACQUIRE) >= threads - 1);
  return 0;
}
