/* SPDX-License-Identifier: Apache-2.0
 *
 * Leagues of teams on a device: every iteration runs once under every combination of loop constructs, limits are kept,
 * and reductions of every operator over scalars and array sections bring one result back.
 *
 * Covers: target teams(num_teams, thread_limit, reduction), target teams distribute(collapse, dist_schedule),
 *  target teams distribute parallel for(reduction, collapse, schedule), target teams distribute parallel for simd,
 *  target teams distribute simd, target parallel for, target parallel(num_threads), target simd,
 *  declare reduction
 */
#include "../device.h"

#define N 1000

static int hits[N];

static void check_hits(int expected) {
  for (int i = 0; i < N; i++) CHECK_EQ(hits[i], expected);
  memset(hits, 0, sizeof hits);
}

static void loops(void) {
#pragma omp target teams distribute map(tofrom : hits) num_teams(3)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
#pragma omp target teams distribute parallel for map(tofrom : hits) num_teams(3) thread_limit(4)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
#pragma omp target teams distribute parallel for simd map(tofrom : hits) dist_schedule(static, 30) schedule(static, 7)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
#pragma omp target teams distribute simd map(tofrom : hits) dist_schedule(static, 100)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
#pragma omp target parallel for map(tofrom : hits) schedule(dynamic, 10)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
#pragma omp target parallel for simd map(tofrom : hits)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
#pragma omp target simd map(tofrom : hits)
  for (int i = 0; i < N; i++) hits[i]++;
  check_hits(1);
}

static void collapsed(void) {
  static int grid[20][30], box[5][6][7];
#pragma omp target teams distribute parallel for collapse(2) map(tofrom : grid)
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) grid[i][j] += i * 100 + j;
#pragma omp target teams distribute parallel for simd collapse(3) map(tofrom : box)
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 6; k >= 0; k--) box[i][j][k] += i + j + k;
#pragma omp target map(tofrom : grid)
#pragma omp teams
#pragma omp distribute collapse(2)
  for (int i = 0; i < 20; i += 3)
    for (int j = 1; j < 30; j += 2) grid[i][j] = -1;
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 30; j++) CHECK_EQ(grid[i][j], i % 3 == 0 && j % 2 == 1 ? -1 : i * 100 + j);
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++)
      for (int k = 0; k < 7; k++) CHECK_EQ(box[i][j][k], i + j + k);
}

/* What was asked for is the most that one gets. */
static void limits(void) {
  int teams = 0, seen[8] = {0}, threads[8] = {0}, limit = 0;
#pragma omp target teams num_teams(4) thread_limit(2) map(tofrom : teams, seen, threads)
  {
    int mine = 0;
#pragma omp parallel reduction(+ : mine)
    mine++;
    threads[omp_get_team_num()] = mine;
    seen[omp_get_team_num()]++;
    if (omp_get_team_num() == 0) teams = omp_get_num_teams();
  }
  CHECK_RANGE(teams, 1, 4);
  for (int t = 0; t < 8; t++) {
    CHECK_EQ(seen[t], t < teams);
    CHECK_RANGE(threads[t], t < teams, t < teams ? 2 : 0);
  }
#pragma omp target parallel num_threads(2) map(tofrom : limit)
#pragma omp single
  limit = omp_get_num_threads();
  CHECK_RANGE(limit, 1, 2);
}

static void reductions(void) {
  int sum = 5, product = 1, smallest = 100, largest = -100, all = 1, any = 0, bits = 0, both = 255, odd = 0;
  double total = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum, total) reduction(min : smallest) \
    reduction(max : largest) map(tofrom : sum, total, smallest, largest)
  for (int i = 0; i < N; i++) {
    sum += i;
    total += 0.5;
    smallest = i - 7 < smallest ? i - 7 : smallest;
    largest = i * 2 > largest ? i * 2 : largest;
  }
  CHECK_EQ(sum, 5 + N * (N - 1) / 2);
  CHECK_NEAR(total, N / 2, 0);
  CHECK_EQ(smallest, -7);
  CHECK_EQ(largest, 2 * (N - 1));
#pragma omp target teams distribute parallel for reduction(* : product) reduction(&& : all) reduction(|| : any) \
    reduction(| : bits) reduction(& : both) reduction(^ : odd)
  for (int i = 0; i < 10; i++) {
    product *= i < 5 ? 2 : 1;
    all = all && i >= 0;
    any = any || i == 3;
    bits |= 1 << i;
    both &= ~(i & 4);
    odd ^= i;
  }
  CHECK_EQ(product, 32);
  CHECK_EQ(all, 1);
  CHECK_EQ(any, 1);
  CHECK_EQ(bits, 1023);
  CHECK_EQ(both, 251);
  CHECK_EQ(odd, 1);
}

typedef struct {
  long count;
  double most;
} Summary;

static void join(Summary* out, const Summary* in) {
  out->count += in->count;
  out->most = in->most > out->most ? in->most : out->most;
}

#pragma omp declare reduction(join:Summary : join(&omp_out, &omp_in)) initializer(omp_priv = {0, -1e9})

static void more_reductions(void) {
  int buckets[8] = {0}, n = 3;
  long sections[10] = {0};
  Summary summary = {0, -1e9};
#pragma omp target teams distribute parallel for reduction(+ : buckets) map(tofrom : buckets)
  for (int i = 0; i < N; i++) buckets[i % 8]++;
  for (int b = 0; b < 8; b++) CHECK_EQ(buckets[b], N / 8);
#pragma omp target parallel for reduction(+ : sections[2 : n]) map(tofrom : sections)
  for (int i = 0; i < N; i++) sections[2 + i % 3] += i;
  CHECK_EQ(sections[2] + sections[3] + sections[4], N * (N - 1) / 2);
  CHECK_EQ(sections[1] + sections[5], 0);
#pragma omp target teams distribute parallel for reduction(join : summary) map(tofrom : summary)
  for (int i = 0; i < N; i++) {
    summary.count++;
    summary.most = i * 0.25 > summary.most ? i * 0.25 : summary.most;
  }
  CHECK_EQ(summary.count, N);
  CHECK_NEAR(summary.most, (N - 1) * 0.25, 0);
  int teams = 0;
#pragma omp target teams num_teams(3) reduction(+ : teams) map(tofrom : teams)
  teams++;
  CHECK_RANGE(teams, 1, 3);
}

int main(void) {
  loops();
  collapsed();
  limits();
  reductions();
  more_reductions();
  return 0;
}
