/* SPDX-License-Identifier: Apache-2.0
 *
 * Many pointers in one mapped array, attached in any order: copies of the array leave all of them as they are.
 *
 * Covers: target enter data(map:to), target exit data(map:release/delete), target update(to), target update(from)
 */
#include "../device.h"

enum { N = 2000 };

typedef struct {
  int n;
  int* data;
  int tag;
} Object;

static Object objects[N];
static int data[N];

/* The k-th of all places; each comes once. */
static int ascending(int k) { return k; }
static int descending(int k) { return N - 1 - k; }
static int scattered(int k) { return (k * 787 + 11) % N; }

static void attach_in_order(int (*place)(int)) {
  int wrong = 0;
  Object* all = objects;
  for (int i = 0; i < N; i++) {
    data[i] = 3 * i;
    objects[i] = (Object){i, &data[i], -i};
  }
#pragma omp target enter data map(to : all[0 : N])
  for (int k = 0; k < N; k++) {
    int i = place(k);
#pragma omp target enter data map(to : all[i].data[0 : 1])
  }
  for (int i = 0; i < N; i++) all[i].tag = i;
#pragma omp target update to(all[0 : N])
#pragma omp target map(tofrom : wrong)
  for (int i = 0; i < N; i++) {
    wrong += all[i].data[0] != 3 * i || all[i].tag != i;
    all[i].n = 2 * i;
  }
  CHECK_EQ(wrong, 0);
#pragma omp target update from(all[0 : N])
  for (int i = 0; i < N; i++) wrong += all[i].data != &data[i] || all[i].n != 2 * i;
  CHECK_EQ(wrong, 0);
  for (int i = 0; i < N; i++) {
#pragma omp target exit data map(release : all[i].data[0 : 1])
  }
#pragma omp target exit data map(delete : all[0 : N])
  CHECK_PRESENT(objects, 0);
  CHECK_PRESENT(data, 0);
}

int main(void) {
  attach_in_order(ascending);
  attach_in_order(descending);
  attach_in_order(scattered);
  return 0;
}
