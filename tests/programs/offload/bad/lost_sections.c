/* SPDX-License-Identifier: Apache-2.0
 *
 * Updates of sections that are not contiguous, of which the compiler's code does not say where they lie: with Clang
 * before 22 sections of members, and sections in one construct with members; with Clang 22 one section between two
 * members, and two of one structure. A line says so, instead of data that is copied elsewhere or not at all.
 *
 * Covers: target update(from), target enter data(map:to)
 */
#include "bad.h"

typedef struct {
  int head, grid[6][8], cube[3][4][5], tail;
} Whole;

static Whole whole;

#if __clang_major__ < 22
static Whole several[3];
static int grid[6][8];

static void member(void) {
#pragma omp target enter data map(to : whole)
#pragma omp target update from(whole.grid[1 : 2][0 : 3])
}

static void local(void) {
  Whole mine = whole;
#pragma omp target enter data map(to : mine)
#pragma omp target update from(mine.cube[1 : 2][1 : 2][1 : 3])
#pragma omp target exit data map(delete : mine)
}

static void pointer(void) {
  Whole* p = &several[1];
#pragma omp target enter data map(to : several)
#pragma omp target update to(p->grid[1 : 2][2 : 3])
}

static void element(void) {
#pragma omp target enter data map(to : several)
#pragma omp target update to(several[2].grid[0 : 3 : 2][2 : 3])
}

static void after(void) {
#pragma omp target enter data map(to : whole, grid)
#pragma omp target update from(grid[1 : 2][2 : 3], whole.head, whole.tail)
}

static void absent(void) {
#pragma omp target update from(whole.grid[1 : 2][0 : 3])
}
#endif

static void between(void) {
#pragma omp target enter data map(to : whole)
#pragma omp target update from(whole.head, whole.grid[1 : 2][0 : 3], whole.tail)
}

static void two(void) {
#pragma omp target enter data map(to : whole)
#pragma omp target update from(whole.grid[1 : 2][2 : 3], whole.cube[1 : 2][1 : 2][1 : 3])
}

int main(int argc, char** argv) {
  static const Mistake mistakes[] = {
#if __clang_major__ < 22
      {"member", member},   {"local", local}, {"pointer", pointer},
      {"element", element}, {"after", after}, {"absent", absent},
#endif
      {"between", between}, {"two", two}};
  return MAKE_MISTAKE(argc, argv, mistakes);
}
