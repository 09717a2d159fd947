/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop construct on a device: alone, of a league and of a team; every iteration runs once.
 *
 * Covers: target teams loop, target parallel loop, loop(bind)
 */
#include "../device.h"

#define N 300

static int hits[N];

static void check_hits(void) {
  for (int i = 0; i < N; i++) CHECK_EQ(hits[i], 1);
  memset(hits, 0, sizeof hits);
}

int main(void) {
  int sum = 0;
#pragma omp target teams loop map(tofrom : hits)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits();
#pragma omp target parallel loop map(tofrom : hits)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits();
#pragma omp target map(tofrom : hits)
#pragma omp loop bind(thread)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits();
#pragma omp target map(tofrom : hits)
#pragma omp teams num_teams(2)
#pragma omp loop bind(teams) collapse(2)
  for (int i = 0; i < N / 10; i++)
    for (int j = 0; j < 10; j++) hits[10 * i + j]++;
  check_hits();
#pragma omp target teams loop map(tofrom : sum) reduction(+ : sum)
  for (int i = 0; i < N; i++) sum += i;
  CHECK_EQ(sum, N * (N - 1) / 2);
  return 0;
}
