/* SPDX-License-Identifier: Apache-2.0
 *
 * What a suspended task keeps: its whole stack at any call depth, with recursion, alloca, variable-length arrays and
 * addresses of locals that other tasks write to, through several suspensions.
 *
 * Covers: marline suspension
 */
#include "rendezvous.h"
#include <alloca.h>
#include <omp.h>
#include <stdint.h>

enum { kTasks = 48 };

static Rendezvous meetings;

static long recurse(int self, int depth, int meeting) {
  volatile unsigned char local[64];
  memset((void*)local, self + depth, sizeof local);
  long below;
  if (depth == 0) {
    rendezvous_meet(&meetings, meeting, self);
    below = 0;
  } else {
    below = recurse(self, depth - 1, meeting);
  }
  for (unsigned i = 0; i < sizeof local; i++) CHECK_EQ(local[i], (unsigned char)(self + depth));
  return below + self + depth;
}

static void dynamic_storage(int self, int meeting) {
  int length = 10 + self * 7;
  long array[length];
  char* block = alloca((size_t)length * 3);
  for (int i = 0; i < length; i++) array[i] = (long)self << 32 | i;
  memset(block, self, (size_t)length * 3);
  rendezvous_meet(&meetings, meeting, self);
  for (int i = 0; i < length; i++) CHECK_EQ(array[i], (long)self << 32 | i);
  for (int i = 0; i < 3 * length; i++) CHECK_EQ(block[i], self);
  CHECK_EQ((uintptr_t)array % _Alignof(long), 0);
}

/* Others write into this task's frame while it is suspended. */
static void written_from_outside(int self, int** boxes, int meeting) {
  int box = -1;
  boxes[self] = &box;
  rendezvous_meet(&meetings, meeting, self);
  *boxes[(self + 1) % kTasks] = self;
  rendezvous_meet(&meetings, meeting + 1, self);
  CHECK_EQ(box, (self + kTasks - 1) % kTasks);
}

static void one_team(int untied) {
  int* boxes[kTasks];
  int done = 0;
  rendezvous_init(&meetings, kTasks);
#pragma omp parallel shared(boxes, done)
#pragma omp single
  for (int self = 0; self < kTasks; self++) {
#define BODY                                          \
  {                                                   \
    CHECK_EQ(recurse(self, 40, 0), 41L * self + 820); \
    dynamic_storage(self, 1);                         \
    written_from_outside(self, boxes, 2);             \
    CHECK_EQ(recurse(self, 3, 4), 4L * self + 6);     \
    _Pragma("omp atomic") done++;                     \
  }
    if (untied) {
#pragma omp task untied firstprivate(self)
      BODY
    } else {
#pragma omp task firstprivate(self)
      BODY
    }
  }
  CHECK_EQ(done, kTasks);
}

int main(void) {
  for (int round = 0; round < 5; round++) {
    one_team(0);
    one_team(1);
  }
  return 0;
}
