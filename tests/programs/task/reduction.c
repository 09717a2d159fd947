/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions over tasks: taskgroup task_reduction, the task modifier on parallel and on worksharing loops, in_reduction
 * at any depth, several variables, array sections, user-defined operators (OpenMP 5.1, 2.21.5).
 *
 * Covers: parallel(num_threads, reduction, reduction:task), for(schedule:dynamic, reduction, reduction:task),
 *  task(firstprivate, in_reduction), taskgroup(task_reduction), declare reduction(initializer)
 */
#include "../check.h"
#include <omp.h>

typedef struct {
  long sum, min;
} Stat;

static void stat_merge(Stat* out, const Stat* in) {
  out->sum += in->sum;
  out->min = in->min < out->min ? in->min : out->min;
}
#pragma omp declare reduction(stat:Stat : stat_merge(&omp_out, &omp_in)) initializer(omp_priv = (Stat){0, 1L << 40})

static long sum, product;

static void tree(int depth) {
#pragma omp task in_reduction(+ : sum) firstprivate(depth)
  {
    sum += 1;
    if (depth > 0) {
      tree(depth - 1);
      tree(depth - 1);
    }
#pragma omp taskwait
    sum += 1;
  }
}

static void in_a_taskgroup(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 1; round <= 10; round++) {
    sum = 7;
#pragma omp taskgroup task_reduction(+ : sum)
    tree(5);
    CHECK_EQ(sum, 7 + 2 * 63);
  }
}

static void several_variables(void) {
  long max = -1, bits = 0;
  Stat stat = {0, 1000};
  long cells[16] = {0};
  product = 1;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(max : max) task_reduction(| : bits) task_reduction(stat : stat) \
    task_reduction(+ : cells) task_reduction(* : product)
  for (int t = 0; t < 64; t++) {
#pragma omp task in_reduction(max : max) in_reduction(| : bits) in_reduction(stat : stat) firstprivate(t)
    {
      max = t > max ? t : max;
      bits |= 1L << t % 40;
      stat.sum += t;
      stat.min = 64 - t < stat.min ? 64 - t : stat.min;
    }
#pragma omp task in_reduction(+ : cells) in_reduction(* : product) firstprivate(t)
    {
      cells[t % 16] += t;
      product *= t % 8 == 0 ? 2 : 1;
    }
  }
  CHECK_EQ(max, 63);
  CHECK_EQ(bits, (1L << 40) - 1);
  CHECK_EQ(stat.sum, 63 * 32);
  CHECK_EQ(stat.min, 1);
  CHECK_EQ(product, 256);
  for (int c = 0; c < 16; c++) CHECK_EQ(cells[c], 4 * c + 16 * 6);
}

static void on_parallel(int n) {
  long total = 1000;
#pragma omp parallel num_threads(n) reduction(task, + : total)
  {
    total += 1;
    for (int t = 0; t < 10; t++) {
#pragma omp task in_reduction(+ : total) firstprivate(t)
      total += t;
    }
  }
  CHECK_EQ(total, 1000 + n * 46);
}

static void on_a_loop(int n) {
  long total = 0;
#pragma omp parallel num_threads(n)
  {
#pragma omp for reduction(task, + : total) schedule(dynamic)
    for (int i = 0; i < 50; i++) {
      total += 1;
#pragma omp task in_reduction(+ : total) firstprivate(i)
      total += i;
    }
    CHECK_EQ(total, 50 + 1225);
  }
}

static void nested_groups(void) {
  long outer = 0, inner_sum = 0;
#pragma omp parallel
#pragma omp single
#pragma omp taskgroup task_reduction(+ : outer)
  for (int t = 0; t < 8; t++) {
#pragma omp task in_reduction(+ : outer) firstprivate(t) shared(inner_sum)
    {
      long inner = 0;
#pragma omp taskgroup task_reduction(+ : inner)
      for (int k = 0; k < 8; k++) {
#pragma omp task in_reduction(+ : inner) firstprivate(k)
        inner += k;
      }
      CHECK_EQ(inner, 28);
      outer += inner + t;
#pragma omp atomic
      inner_sum += inner;
    }
  }
  CHECK_EQ(inner_sum, 8 * 28);
  CHECK_EQ(outer, 8 * 28 + 28);
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  for (int round = 0; round < 10; round++) {
    in_a_taskgroup();
    several_variables();
    on_parallel(n);
    on_a_loop(n);
    nested_groups();
  }
  return 0;
}
