/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of tasks that take holds, which other tasks, themselves, and a thread of the program's own release, before,
 * while and after their bodies end. Each link sees what was written before the releases of the previous link, and no
 * release is lost: a task that is completed twice breaks the chain's count, one that is not completed hangs. */
#include <pthread.h>
#include <sched.h>

#include "marline/marline.h"
#include "stress.h"

#define CHAINS 40
#define LINKS 12

static int chain[CHAINS]; /* plain: one link writes it before its last release, the next one reads it */
static marline_task_t* for_thread[CHAINS * LINKS];
static int taken_from;

static void hand_to_thread(marline_task_t* hold) {
  int place = __atomic_fetch_add(&taken_from, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&for_thread[place], hold, __ATOMIC_RELEASE);
}

static void* foreign(void* arg) {
  int* stop = arg;
  int next = 0;
  for (;;) {
    int stopping = __atomic_load_n(stop, __ATOMIC_ACQUIRE);
    marline_task_t* hold = next < CHAINS * LINKS ? __atomic_load_n(&for_thread[next], __ATOMIC_ACQUIRE) : NULL;
    if (hold != NULL) {
      marline_task_release(hold);
      ++next;
    } else if (stopping) {
      return NULL;
    } else {
      sched_yield();
    }
  }
}

static void link_of(int c, int l, uint64_t seed) {
  uint64_t state = seed + (uint64_t)(c * LINKS + l);
  CHECK(chain[c] == l, "chain %d is at %d, not %d", c, chain[c], l);
  int holds = below(&state, 4);
  for (int i = 0; i < holds; ++i) {
    marline_task_t* hold = marline_task_hold();
    CHECK(hold != NULL, "no task to hold");
    int who = below(&state, 3);
    if (who == 0) {
      marline_task_release(hold);
    } else if (who == 1) {
#pragma omp task firstprivate(hold)
      marline_task_release(hold);
    } else if (i == 0) {
      hand_to_thread(hold);
    } else {
#pragma omp task untied firstprivate(hold)
      {
#pragma omp taskyield
        marline_task_release(hold);
      }
    }
  }
  if (below(&state, 2)) {
#pragma omp taskyield
  }
  chain[c] = l + 1;
}

static void one_round(uint64_t seed) {
  pthread_t thread;
  int stop = 0;
  uint64_t state = seed;
  for (int i = 0; i < CHAINS * LINKS; ++i) for_thread[i] = NULL;
  for (int c = 0; c < CHAINS; ++c) chain[c] = 0;
  taken_from = 0;
  CHECK(pthread_create(&thread, NULL, foreign, &stop) == 0, "pthread_create");
#pragma omp parallel
#pragma omp single
  {
    for (int l = 0; l < LINKS; ++l) {
      for (int c = 0; c < CHAINS; ++c) {
        int way = below(&state, 8);
        if (way == 0) {
#pragma omp task depend(inout : chain[c]) if (0)
          link_of(c, l, seed);
        } else if (way < 4) {
#pragma omp task depend(inout : chain[c]) untied
          link_of(c, l, seed);
        } else {
#pragma omp task depend(inout : chain[c])
          link_of(c, l, seed);
        }
      }
    }
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  for (int c = 0; c < CHAINS; ++c) CHECK(chain[c] == LINKS, "chain %d ends at %d", c, chain[c]);
}

int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 20);
  for (uint64_t round = 0; round < rounds; ++round) one_round(seed * 1000003u + round);
  return 0;
}
