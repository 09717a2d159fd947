/* SPDX-License-Identifier: Apache-2.0
 *
 * Loop bounds that hurt: negative strides, 64-bit signed and unsigned ranges next to the limits, strides that leave a
 * remainder, collapsed and triangular nests; and lastprivate and linear, which hang on "who ran the last iteration".
 *
 * Covers: parallel for, for(schedule:static/dynamic/guided/auto/runtime, collapse, lastprivate, linear)
 */
#include "../check.h"
#include <limits.h>
#include <omp.h>
#include <stdint.h>

/* Order-independent digest of the iterations that ran: their number, their sum and the sum of their squares. */
typedef struct {
  uint64_t count, sum, squares;
} Digest;

static void add(Digest* d, uint64_t v) {
#pragma omp atomic
  d->count++;
#pragma omp atomic
  d->sum += v;
#pragma omp atomic
  d->squares += v * v;
}

#define SAME_AS_SEQUENTIAL(pragma, type, init, test, step)                   \
  do {                                                                       \
    Digest seq = {0, 0, 0}, par = {0, 0, 0};                                 \
    for (type i = init; test; step) add(&seq, (uint64_t)i);                  \
    _Pragma(#pragma) for (type i = init; test; step) add(&par, (uint64_t)i); \
    CHECK_EQ(par.count, seq.count);                                          \
    CHECK_EQ(par.sum, seq.sum);                                              \
    CHECK_EQ(par.squares, seq.squares);                                      \
  } while (0)

#define ALL_BOUNDS(pragma)                                                                               \
  do {                                                                                                   \
    SAME_AS_SEQUENTIAL(pragma, int, 100, i > -100, i -= 7);                                              \
    SAME_AS_SEQUENTIAL(pragma, int, 10, i >= -10, i -= 1);                                               \
    SAME_AS_SEQUENTIAL(pragma, int, 5, i < 5, i++);                                                      \
    SAME_AS_SEQUENTIAL(pragma, int, 9, i < -5, i += 3);                                                  \
    SAME_AS_SEQUENTIAL(pragma, int, INT_MAX - 100, i < INT_MAX - 3, i += 3);                             \
    SAME_AS_SEQUENTIAL(pragma, int, INT_MIN + 100, i > INT_MIN + 3, i -= 3);                             \
    SAME_AS_SEQUENTIAL(pragma, unsigned, 3, i < UINT_MAX - 400000000u, i += 300000001u);                 \
    SAME_AS_SEQUENTIAL(pragma, int64_t, INT64_MAX - 1000, i < INT64_MAX - 7, i += 6);                    \
    SAME_AS_SEQUENTIAL(pragma, int64_t, INT64_MIN + 1000, i > INT64_MIN + 7, i -= 6);                    \
    SAME_AS_SEQUENTIAL(pragma, int64_t, 1LL << 40, i < (1LL << 40) + (1LL << 36), i += (1LL << 29) + 1); \
    SAME_AS_SEQUENTIAL(pragma, uint64_t, UINT64_MAX - 1000, i < UINT64_MAX - 7, i += 6);                 \
    SAME_AS_SEQUENTIAL(pragma, uint64_t, 5, i < UINT64_MAX - (1ULL << 60), i += (1ULL << 57));           \
    SAME_AS_SEQUENTIAL(pragma, uint64_t, (1ULL << 63) + 500, i > (1ULL << 63) - 500, i -= 11);           \
    SAME_AS_SEQUENTIAL(pragma, uint64_t, 1000, i > 20, i -= 13);                                         \
  } while (0)

static void bounds(void) {
  ALL_BOUNDS(omp parallel for schedule(static));
  ALL_BOUNDS(omp parallel for schedule(static, 3));
  ALL_BOUNDS(omp parallel for schedule(dynamic));
  ALL_BOUNDS(omp parallel for schedule(dynamic, 4));
  ALL_BOUNDS(omp parallel for schedule(guided, 2));
  ALL_BOUNDS(omp parallel for schedule(runtime));
  ALL_BOUNDS(omp parallel for schedule(auto));
}

static void collapsed(void) {
  int hits[6][7][8] = {0}, triangle[20][20] = {0};
#pragma omp parallel for collapse(3) schedule(dynamic, 5)
  for (int i = 0; i < 6; i++)
    for (int j = 6; j >= 0; j--)
      for (long k = 0; k < 8; k += 2)
#pragma omp atomic
        hits[i][j][k]++;
#pragma omp parallel for collapse(2)
  for (int i = 0; i < 20; i++)
    for (int j = i; j < 20; j++)
#pragma omp atomic
      triangle[i][j]++;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 7; j++)
      for (int k = 0; k < 8; k++) CHECK_EQ(hits[i][j][k], k % 2 == 0);
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 20; j++) CHECK_EQ(triangle[i][j], j >= i);
}

static void last_iteration(int trip) {
  long last = -1, both = 3, step = 10, i;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic, 2) lastprivate(last) firstprivate(both) lastprivate(both)
    for (i = 0; i < trip; i++) {
      last = i;
      both += i;
      if (i == trip - 1) both = 1000 + i;
    }
#pragma omp for schedule(static, 3) lastprivate(i)
    for (i = 0; i < trip; i += 2);
#pragma omp for linear(step : 2)
    for (long k = 0; k < trip; k++) {
      CHECK_EQ(step, 10 + 2 * k);
      step += 2;
    }
  }
  CHECK_EQ(last, trip - 1);
  CHECK_EQ(both, 1000 + trip - 1);
  CHECK_EQ(i, (trip + 1) / 2 * 2);
  CHECK_EQ(step, 10 + 2 * trip);
}

int main(void) {
  bounds();
  for (int round = 0; round < 20; round++) collapsed();
  for (int trip = 1; trip < 60; trip++) last_iteration(trip);
  return 0;
}
