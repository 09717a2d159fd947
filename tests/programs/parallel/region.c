/* SPDX-License-Identifier: Apache-2.0
 *
 * The parallel construct: team sizes, the if, proc_bind and data-sharing clauses, many regions in a row, and ICVs that
 * belong to the task that sets them (OpenMP 5.1, 2.4.4).
 *
 * Covers: parallel(if, num_threads, private, firstprivate, shared, reduction, proc_bind), master,
 *  omp_set_num_threads, omp_get_num_threads, omp_get_max_threads, omp_get_thread_num, omp_in_parallel,
 *  omp_get_dynamic, omp_get_level, omp_get_active_level, omp_get_num_procs
 */
#include "../check.h"
#include <omp.h>

enum { kMaxTeam = 64 };

static void team_of(int n) {
  int seen[kMaxTeam] = {0};
#pragma omp parallel num_threads(n) shared(seen)
  {
    CHECK_EQ(omp_get_num_threads(), n);
    int me = omp_get_thread_num();
    CHECK_RANGE(me, 0, n - 1);
#pragma omp atomic
    seen[me]++;
    CHECK_EQ(omp_in_parallel(), n > 1);
    CHECK_EQ(omp_get_level(), 1);
    CHECK_EQ(omp_get_active_level(), n > 1);
  }
  for (int i = 0; i < n; i++) CHECK_EQ(seen[i], 1);
}

static void if_clause(int on) {
  int threads = 0;
#pragma omp parallel if (on) num_threads(4)
  {
#pragma omp atomic
    threads++;
    CHECK_EQ(omp_get_level(), 1);
  }
  CHECK_EQ(threads, on ? 4 : 1);
}

static void binding(void) {
  int threads = 0;
#pragma omp parallel num_threads(3) proc_bind(close) reduction(+ : threads)
  threads++;
  CHECK_EQ(threads, 3);
  threads = 0;
#pragma omp parallel num_threads(3) proc_bind(spread) reduction(+ : threads)
  threads++;
  CHECK_EQ(threads, 3);
}

typedef struct {
  double values[40];
  char tail;
} Block;

static void data_sharing(int n) {
  int first = 17, priv = 5, shared_sum = 0;
  Block block = {{0}, 'x'};
  for (int i = 0; i < 40; i++) block.values[i] = i;
#pragma omp parallel num_threads(n) firstprivate(first, block) private(priv) shared(shared_sum)
  {
    priv = omp_get_thread_num();
    CHECK_EQ(first, 17);
    CHECK_EQ(block.values[39], 39);
    CHECK_EQ(block.tail, 'x');
    first += priv;
    block.values[39] = priv;
#pragma omp barrier
    CHECK_EQ(first, 17 + priv);
    CHECK_EQ(block.values[39], priv);
#pragma omp atomic
    shared_sum += priv;
  }
  CHECK_EQ(first, 17);
  CHECK_EQ(priv, 5);
  CHECK_EQ(block.values[39], 39);
  CHECK_EQ(shared_sum, n * (n - 1) / 2);
}

/* More shared variables than any runtime's inline argument array holds. */
static void many_arguments(int n) {
  long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, k = 11, l = 12, m = 13, o = 14, p = 15;
  long q = 16, r = 17, s = 18, t = 19, u = 20, sum = 0;
#pragma omp parallel num_threads(n) shared(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q, r, s, t, u)
  {
    long mine = a + b + c + d + e + f + g + h + i + j + k + l + m + o + p + q + r + s + t + u;
    CHECK_EQ(mine, 210);
#pragma omp atomic
    sum += mine;
#pragma omp barrier
#pragma omp master
    a = b = c = d = e = f = g = h = i = j = k = l = m = o = p = q = r = s = t = u = 2;
  }
  CHECK_EQ(sum, 210 * n);
  CHECK_EQ(a + b + c + d + e + f + g + h + i + j + k + l + m + o + p + q + r + s + t + u, 40);
}

static void icvs(void) {
  int before = omp_get_max_threads();
#pragma omp parallel num_threads(3)
  {
    omp_set_num_threads(10 + omp_get_thread_num());
#pragma omp barrier
    CHECK_EQ(omp_get_max_threads(), 10 + omp_get_thread_num());
  }
  CHECK_EQ(omp_get_max_threads(), before);
  omp_set_num_threads(5);
  CHECK_EQ(omp_get_max_threads(), 5);
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  CHECK_EQ(threads, 5);
  omp_set_num_threads(before);
}

int main(void) {
  omp_set_dynamic(0);
  CHECK_EQ(omp_get_dynamic(), 0);
  CHECK_EQ(omp_get_thread_num(), 0);
  CHECK_EQ(omp_get_num_threads(), 1);
  CHECK_EQ(omp_get_level(), 0);
  CHECK(omp_get_num_procs() >= 1);
  int n = omp_get_max_threads();
  const int sizes[] = {1, 2, 3, n, 5, 1, 8, 2, n, 7};
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    team_of(sizes[i]);
    data_sharing(sizes[i]);
    many_arguments(sizes[i]);
  }
  if_clause(0);
  if_clause(1);
  binding();
  icvs();
  long total = 0;
  for (int round = 0; round < 500; round++) {
#pragma omp parallel reduction(+ : total)
    total += omp_get_thread_num() + 1;
  }
  CHECK_EQ(total, 500L * n * (n + 1) / 2);
  return 0;
}
