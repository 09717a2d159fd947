/* SPDX-License-Identifier: Apache-2.0
 *
 * A mapper over many elements, each with a pointer to an array of a few bytes or of some pages. The elements are mapped
 * together, and leave one by one and in another order, are mapped anew and brought up to date; deferred regions use
 * some of them, each its own.
 *
 * Covers: declare mapper, target(map, nowait, depend), target enter data(map:to), target exit data(map:from/delete),
 *  target update(to, from)
 */
#include "../device.h"

enum { kElements = 1500, kAtATime = 75 };

typedef struct {
  int length;
  long* data;
} Vector;

#pragma omp declare mapper(Vector v) map(v.length, v.data, v.data[0 : v.length])

static Vector vectors[kElements];
static long expected[kElements]; /* in each element of the array is that much more than its place says */

static void check(int i) {
  for (int k = 0; k < vectors[i].length; k++) CHECK_EQ(vectors[i].data[k], expected[i] + k);
}

static void add_to(int first, int count, long more) {
#pragma omp target map(tofrom : vectors[first : count])
  for (int i = first; i < first + count; i++)
    for (int k = 0; k < vectors[i].length; k++) vectors[i].data[k] += more;
  for (int i = first; i < first + count; i++) expected[i] += more;
}

static int shuffled(int i) { return (int)(i * 7919L % kElements); } /* 7919 is prime: each of them once */

static void make(void) {
  for (int i = 0; i < kElements; i++) {
    int length = i % 100 == 99 ? 1000 : 1 + i * 31 % 40;
    vectors[i] = (Vector){length, malloc(length * sizeof(long))};
    for (int k = 0; k < length; k++) vectors[i].data[k] = k;
  }
}

static void in_regions(void) {
  add_to(0, kElements, 3);
  add_to(kElements / 3, kElements / 3, 5);
  for (int i = 0; i < kElements; i++) check(i);
}

/* Each element's end takes one off the count of the array of elements. */
static void one_by_one(void) {
  char* all = (char*)vectors;
  for (int i = 0; i < kElements; i++) {
#pragma omp target enter data map(to : all[0 : sizeof vectors])
  }
#pragma omp target enter data map(to : vectors[0 : kElements])
  add_to(0, kElements, 1);
  for (int i = 0; i < kElements; i += 3) { /* on the device they are one more */
    int k = shuffled(i);
#pragma omp target exit data map(from : vectors[k : 1])
    CHECK_PRESENT(vectors[k].data, 0);
    check(k);
  }
  for (int i = 0; i < kElements; i += 3) {
    int k = shuffled(i);
    for (int at = 0; at < vectors[k].length; at++) vectors[k].data[at] += 10;
    expected[k] += 10;
#pragma omp target enter data map(to : vectors[k : 1])
    CHECK_PRESENT(vectors[k].data, 1);
  }
  add_to(0, kElements, 100);
#pragma omp target update from(vectors[0 : kElements])
  for (int i = 0; i < kElements; i++) {
    check(i);
    CHECK(vectors[i].data != NULL);
  }
}

/* Of elements that lie side by side, also on the device. */
static void deferred(void) {
  for (int first = 0; first < kElements; first += kAtATime) {
#pragma omp target map(tofrom : vectors[first : kAtATime]) nowait depend(inout : vectors[first])
    for (int i = first; i < first + kAtATime; i++)
      for (int k = 0; k < vectors[i].length; k++) vectors[i].data[k] += 1000 + first;
#pragma omp target map(tofrom : vectors[first : kAtATime]) nowait depend(inout : vectors[first])
    for (int i = first; i < first + kAtATime; i++)
      for (int k = 0; k < vectors[i].length; k++) vectors[i].data[k] *= 2;
  }
#pragma omp taskwait
#pragma omp target update from(vectors[0 : kElements])
  for (int i = 0; i < kElements; i++)
    for (int k = 0; k < vectors[i].length; k++)
      CHECK_EQ(vectors[i].data[k], 2 * (expected[i] + k + 1000 + i / kAtATime * kAtATime));
}

int main(void) {
  make();
  in_regions();
  one_by_one();
  deferred();
  for (int i = 0; i < kElements; i++) {
    int k = shuffled(i);
#pragma omp target exit data map(delete : vectors[k : 1])
    CHECK_PRESENT(vectors[k].data, 0);
  }
  for (int i = 0; i < kElements; i++) free(vectors[i].data);
  return 0;
}
