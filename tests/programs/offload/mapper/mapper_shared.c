/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays that the pointers of elements lead to. One mapper has mapped the arrays, so they may share memory on the
 * device: regions that name the elements alone follow the pointers, also pointers that a region stores from one of the
 * arrays to another; and updates of two arrays leave what a region writes meanwhile into the one between them. The same
 * between two runs of one update of a section that is not contiguous.
 *
 * Covers: declare mapper, target(map, nowait), target enter data(map:to), target update(to, from), taskwait
 */
#include "../device.h"

#include <unistd.h>

enum { kElements = 64, kLength = 8, kRounds = 4, kUpdates = 10 };

typedef struct {
  double* data;
  int length;
} Vector;

#pragma omp declare mapper(deep : Vector v) map(v, v.data[0 : v.length])

static Vector vectors[kElements];
static double* pool; /* of all arrays, one after another */
static double table[4][8 * kLength];

static void make(void) {
  pool = malloc(kElements * kLength * sizeof *pool);
  for (int i = 0; i < kElements; i++) {
    vectors[i] = (Vector){pool + i * kLength, kLength};
    for (int k = 0; k < kLength; k++) vectors[i].data[k] = i + k;
  }
#pragma omp target enter data map(mapper(deep), to : vectors[0 : kElements])
#pragma omp target enter data map(to : table)
}

static void follow_pointers(void) {
  for (int round = 0; round < kRounds; round++) {
    double sum = 0, expected = 0;
#pragma omp target map(tofrom : sum)
    for (int i = 0; i < kElements; i++)
      for (int k = 0; k < kLength; k++) sum += vectors[i].data[k]++;
    for (int i = 0; i < kElements; i++)
      for (int k = 0; k < kLength; k++) expected += i + k + round;
    CHECK_EQ((long)sum, (long)expected);
  }
}

/* The first array gets the places of the others; then regions know these by that array alone. */
static void follow_stored_pointers(void) {
  double* first = vectors[0].data;
#pragma omp target map(to : first[0 : kLength])
  for (int k = 0; k < kLength; k++) ((double**)first)[k] = vectors[k + 1].data;
  for (int round = 0; round < kRounds; round++) {
    double sum = 0, expected = 0;
#pragma omp target map(to : first[0 : kLength]) map(tofrom : sum)
    for (int k = 0; k < kLength; k++) sum += ((double**)first)[k][0]++;
    for (int k = 0; k < kLength; k++) expected += k + 1 + kRounds + round;
    CHECK_EQ((long)sum, (long)expected);
  }
}

static void update_around(void) {
  double *before = vectors[20].data, *written = vectors[21].data, *after = vectors[22].data;
  for (int round = 1; round <= kRounds; round++) {
#pragma omp target map(to : written[0 : kLength]) firstprivate(round) nowait
    {
      usleep(20000);
      for (int k = 0; k < kLength; k++) written[k] = round;
      usleep(10000);
    }
    for (int i = 0; i < kUpdates; i++) {
      before[0] = after[0] = i;
#pragma omp target update to(before[0 : kLength], after[0 : kLength])
      usleep(4000);
    }
#pragma omp taskwait
#pragma omp target update from(written[0 : kLength])
    CHECK_EQ((long)written[kLength - 1], round);
  }
}

static void update_in_parts(void) {
  for (int round = 1; round <= kRounds; round++) {
#pragma omp target map(to : table) firstprivate(round) nowait
    {
      usleep(20000);
      for (int k = 4 * kLength; k < 8 * kLength; k++) table[0][k] = round;
      usleep(10000);
    }
    for (int i = 0; i < kUpdates; i++) {
      table[0][0] = table[1][0] = i;
#pragma omp target update to(table[0 : 2][0 : kLength])
      usleep(4000);
    }
#pragma omp taskwait
#pragma omp target update from(table)
    CHECK_EQ((long)table[0][8 * kLength - 1], round);
  }
}

int main(void) {
  make();
  follow_pointers();
  follow_stored_pointers();
  update_around();
  update_in_parts();
  return 0;
}
