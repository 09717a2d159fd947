/* SPDX-License-Identifier: Apache-2.0
 *
 * Example: a sparse matrix times a vector, again and again, in tiles of rows. Which tiles of the vector a task reads is
 * data, the pattern of the matrix: a depend clause of fixed length cannot say it. Five ways to say it, see
 * docs/guide/irregular-dependences.md.
 *
 * Covers: marline dependence calls
 */
#include "../check.h"
#include <marline/marline.h>
#include <stdint.h>

enum { kTiles = 24, kRows = 8, kPerRow = 5, kEntries = kTiles * kRows * kPerRow, kSteps = 10 };

/* Row r has entries value[k] in columns column[k], for k from r * kPerRow on. Tile t of rows needs the tiles
 * needs[first[t] .. first[t + 1]) of the vector. */
static int column[kEntries], first[kTiles + 1], needs[kTiles * kTiles];
static uint32_t value[kEntries];

/* The vector of even steps and that of odd steps, tile by tile; a tile's first element is its locator. */
static uint32_t x[2][kTiles][kRows], expected[2][kTiles][kRows];

static void make_matrix(void) {
  uint32_t random = 1;
  for (int t = 0; t < kTiles; t++) {
    char needed[kTiles] = {0};
    for (int k = t * kRows * kPerRow; k < (t + 1) * kRows * kPerRow; k++) {
      random = random * 1664525u + 1013904223u;
      int tile = (t + (int)(random >> 16) % 6) % kTiles;
      column[k] = tile * kRows + (int)(random >> 24) % kRows;
      value[k] = random;
      needed[tile] = 1;
    }
    first[t + 1] = first[t];
    for (int tile = 0; tile < kTiles; tile++)
      if (needed[tile]) needs[first[t + 1]++] = tile;
  }
}

static void multiply_tile(int t, uint32_t (*from)[kRows], uint32_t (*to)[kRows]) {
  for (int r = 0; r < kRows; r++) {
    uint32_t sum = 0;
    for (int k = (t * kRows + r) * kPerRow; k < (t * kRows + r + 1) * kPerRow; k++)
      sum += value[k] * from[column[k] / kRows][column[k] % kRows];
    to[t][r] = sum + 1;
  }
}

/* 1. OpenMP's own: an iterator in the clause. */
static void step_iterators(int step) {
  uint32_t(*from)[kRows] = x[step % 2], (*to)[kRows] = x[1 - step % 2];
  for (int t = 0; t < kTiles; t++) {
#pragma omp task depend(iterator(int k = first[t] : first[t + 1]), in : from[needs[k]][0]) depend(out : to[t][0])
    multiply_tile(t, from, to);
  }
}

/* 2. A list that the program makes. */
static size_t list_of(int step, int t, marline_dependence_t* list) {
  size_t n = 0;
  for (int k = first[t]; k < first[t + 1]; k++) list[n++] = (marline_dependence_t){x[step % 2][needs[k]], MARLINE_IN};
  list[n++] = (marline_dependence_t){x[1 - step % 2][t], MARLINE_OUT};
  return n;
}

static void step_lists(int step) {
  uint32_t(*from)[kRows] = x[step % 2], (*to)[kRows] = x[1 - step % 2];
  for (int t = 0; t < kTiles; t++) {
    marline_dependence_t list[kTiles + 1];
    marline_task_depend(list, list_of(step, t, list));
#pragma omp task
    multiply_tile(t, from, to);
  }
}

/* 3. The pattern does not change: the lists are made once, an object for each tile of even and of odd steps. */
static marline_depend_object_t* objects[2][kTiles];

static void make_objects(void) {
  marline_dependence_t list[kTiles + 1];
  for (int parity = 0; parity < 2; parity++)
    for (int t = 0; t < kTiles; t++) objects[parity][t] = marline_depend_create(list, list_of(parity, t, list));
}

static void destroy_objects(void) {
  for (int t = 0; t < kTiles; t++) {
    marline_depend_destroy(objects[0][t]);
    marline_depend_destroy(objects[1][t]);
  }
}

static void produce_tiles(int step, int begin, int end) {
  uint32_t(*from)[kRows] = x[step % 2], (*to)[kRows] = x[1 - step % 2];
  for (int t = begin; t < end; t++) {
    marline_task_depend_object(objects[step % 2][t]);
#pragma omp task
    multiply_tile(t, from, to);
  }
}

static void step_objects(int step) { produce_tiles(step, 0, kTiles); }

/* 4. A taskloop: one task for some tiles, with the dependences of all of them. */
static void depend_on_tiles(uint64_t begin, uint64_t count, void* step) {
  for (uint64_t t = begin; t < begin + count; t++) marline_task_depend_object(objects[*(int*)step % 2][t]);
}

static void step_taskloop(int step) {
  uint32_t(*from)[kRows] = x[step % 2], (*to)[kRows] = x[1 - step % 2];
  marline_taskloop_depend(depend_on_tiles, &step);
#pragma omp taskloop nogroup grainsize(3)
  for (int t = 0; t < kTiles; t++) multiply_tile(t, from, to);
}

/* 5. Two producers: each creates the tasks of half of the tiles. The wait is for them, not for their tasks: the next
 * step's tasks are created after this step's. */
static void step_producers(int step) {
  for (int half = 0; half < 2; half++) {
#pragma omp task firstprivate(half, step)
    produce_tiles(step, half * kTiles / 2, (half + 1) * kTiles / 2);
  }
#pragma omp taskwait
}

static void run(void (*one_step)(int), int shared) {
  for (int t = 0; t < kTiles; t++)
    for (int r = 0; r < kRows; r++) x[0][t][r] = expected[0][t][r] = (uint32_t)(t + r);
#pragma omp parallel
#pragma omp single
  {
    if (shared) marline_depend_share();
    for (int step = 0; step < kSteps; step++) one_step(step);
  }
  for (int step = 0; step < kSteps; step++)
    for (int t = 0; t < kTiles; t++) multiply_tile(t, expected[step % 2], expected[1 - step % 2]);
  CHECK_EQ(memcmp(x, expected, sizeof x), 0);
}

int main(void) {
  make_matrix();
  make_objects();
  run(step_iterators, 0);
  run(step_lists, 0);
  run(step_objects, 0);
  run(step_taskloop, 0);
  run(step_producers, 1);
  destroy_objects();
  return 0;
}
