/* SPDX-License-Identifier: Apache-2.0
 *
 * An undeferred task with dependences and a detach clause: what is ordered behind it waits for its event, which another
 * thread fulfils later (OpenMP 5.2, sections 12.5.2 and 15.9.5).
 *
 * Covers: task(if, detach, depend:in/out/inout), taskwait(depend:inout), omp_fulfill_event
 */
#include "../check.h"
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

static int value;

static void *write_later(void *event) {
  usleep(20000);
  __atomic_store_n(&value, 7, __ATOMIC_RELEASE);
  omp_fulfill_event(*(omp_event_handle_t *)event);
  return NULL;
}

int main(void) {
  int seen = -1;
  pthread_t writer;
  omp_event_handle_t event = (omp_event_handle_t)0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task if (0) detach(event) depend(out : value)
    {
      static omp_event_handle_t handle;
      handle = event;
      CHECK_EQ(pthread_create(&writer, NULL, write_later, &handle), 0);
    }
#pragma omp task depend(in : value) shared(seen)
    seen = __atomic_load_n(&value, __ATOMIC_ACQUIRE);
#pragma omp taskwait depend(inout : value)
    CHECK_EQ(__atomic_load_n(&value, __ATOMIC_ACQUIRE), 7);
  }
  CHECK_EQ(seen, 7);
  pthread_join(writer, NULL);
  return 0;
}
