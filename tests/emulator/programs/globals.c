/* SPDX-License-Identifier: Apache-2.0
 *
 * Global variables on a device: initial values, updates in both directions, and one value for the functions that use
 * them, for constructs that map them and for code that is called from a kernel.
 */
#include "emulated.h"

#define N 10000

#pragma omp begin declare target
int scalar = 3;
static double table[4] = {0.5, 1.5, 2.5, 3.5};
int zeros[N];
const int constant = 42;
struct node {
  int value;
  struct node* next;
} head = {7, 0};

static void count(int by) { scalar += by; }
#pragma omp end declare target

int linked[N];
#pragma omp declare target link(linked)

static void values(void) {
  double sum = 0;
  int seen = 0, zero = 1;
#pragma omp target map(tofrom : sum, seen, zero)
  {
    for (int i = 0; i < 4; i++) sum += table[i];
    seen = scalar + constant;
    zero = zeros[0] | zeros[N - 1];
    count(10);
    zeros[N - 1] = 9;
  }
  CHECK_EQ(sum, 8);
  CHECK_EQ(seen, 45);
  CHECK_EQ(zero, 0);
  CHECK_EQ(scalar, 3);
#pragma omp target update from(scalar, zeros)
  CHECK_EQ(scalar, 13);
  CHECK_EQ(zeros[N - 1], 9);
}

static void updates(void) {
  scalar = 100;
  for (int i = 0; i < N; i++) zeros[i] = i;
#pragma omp target update to(scalar, zeros)
  long sum = 0;
#pragma omp target map(tofrom : sum)
  {
    for (int i = 0; i < N; i++) sum += zeros[i];
    sum += scalar;
  }
  CHECK_EQ(sum, (long)N * (N - 1) / 2 + 100);
}

/* A pointer inside a global variable: the device's must hold a device's address, the host's must not change. */
static void pointers(void) {
  struct node second = {8, 0};
  int sum = 0;
  head.next = &second;
#pragma omp target map(tofrom : sum) map(to : second) map(always, to : head) map(always, to : head.next[0 : 1])
  sum = head.value;
  CHECK_EQ(sum, 7);
  CHECK(head.next == &second);
}

static void links(void) {
  for (int i = 0; i < N; i++) linked[i] = 2 * i;
#pragma omp target map(tofrom : linked)
  for (int i = 0; i < N; i++) linked[i] += 1;
  for (int i = 0; i < N; i++) CHECK_EQ(linked[i], 2 * i + 1);
}

int main(void) {
  values();
  updates();
  pointers();
  links();
  CHECK_EQ(emulated(kKernels), 4);
  return 0;
}
