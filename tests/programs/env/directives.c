/* SPDX-License-Identifier: Apache-2.0
 *
 * Directives that the compiler resolves: variants of functions and directives, assumptions, error, nothing, and the
 * loop transformations. The program has the result that it would have without them; `error at(execution)` says its
 * message.
 *
 * Covers: declare variant(match), nothing, error(at, severity, message), requires
 * Covers (clang): metadirective(when), begin declare variant, tile(sizes), unroll(full, partial), assumes
 */
#include "../child.h"
#include <omp.h>

#pragma omp requires atomic_default_mem_order(seq_cst)

int twice_in_a_region(int x) { return 2 * x; }
#pragma omp declare variant(twice_in_a_region) match(construct = {parallel})
int once(int x) { return x; }

static void variants(void) {
  CHECK_EQ(once(4), 4);
#pragma omp parallel
  CHECK_EQ(once(4), 8);
}

static void nothing(void) {
  int runs = 0;
#pragma omp nothing
  runs++;
  CHECK_EQ(runs, 1);
}

#ifdef __clang__
#pragma omp assumes no_openmp_routines

int chosen(void) { return 1; }
#pragma omp begin declare variant match(implementation = {vendor(llvm)})
int chosen(void) { return 2; }
#pragma omp end declare variant

static void metadirectives(void) {
  int threads = 0, team = 0;
#pragma omp parallel
#pragma omp single
  team = omp_get_num_threads();
#pragma omp metadirective when(implementation = {vendor(llvm)} : parallel) default(nothing)
  {
#pragma omp atomic
    threads++;
  }
  CHECK_EQ(threads, team);
  CHECK_EQ(chosen(), 2);
}

static void loops(void) {
  int sum = 0, order = 0;
#pragma omp tile sizes(4, 5)
  for (int i = 0; i < 10; i++)
    for (int j = 0; j < 12; j++) {
      sum += i * j;
      order++;
    }
  CHECK_EQ(sum, 45 * 66);
  CHECK_EQ(order, 120);
  sum = 0;
#pragma omp unroll partial(4)
  for (int i = 0; i < 10; i++) sum += i;
#pragma omp unroll full
  for (int i = 0; i < 7; i++) sum += i;
#pragma omp parallel for reduction(+ : sum)
#pragma omp unroll partial(3)
  for (int i = 0; i < 100; i++) sum += i;
  CHECK_EQ(sum, 45 + 21 + 4950);
}
#else
static void metadirectives(void) {}
static void loops(void) {}
#endif

static int warn(void) {
#pragma omp error at(execution) severity(warning) message("the tide is high")
  printf("went on\n");
  return 0;
}

static void errors(void) {
  static Child child;
  char* variables[] = {NULL};
  run_child(&child, "warn", variables);
  CHECK_EQ(child.status, 0);
  CHECK_LINE(&child, "the tide is high");
  CHECK_LINE(&child, "went on");
}

int main(int argc, char** argv) {
  if (argc > 1 && strcmp(argv[1], "warn") == 0) return warn();
  variants();
  nothing();
  metadirectives();
  loops();
  errors();
  return 0;
}
