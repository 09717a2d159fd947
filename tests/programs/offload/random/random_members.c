/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on the members of a structure, of which all or a part is mapped: updates of members and of sections
 * of members, in one piece or not, alone and several at a time; and regions that use the mapped part without a map
 * clause. The reference is a plain copy of what the host and the device have. SEED ROUNDS; a failure is repeated by
 * its seed.
 *
 * Clang before 22 does not say where a section of a member lies that is not in one piece (lost_sections.c), and moves
 * the first elements of a section with a stride in one dimension. GCC 12 accepts no such sections.
 *
 * Covers: target(map, nowait), target enter data(map:to), target exit data(map:from), target update(to, from)
 */
#include "../device.h"
#include "random_rounds.h"
#include <stdint.h>

enum { kRows = 6, kColumns = 8, kReals = 10, kPlanes = 3, kSteps = 24 };

typedef struct {
  int head;
  int grid[kRows][kColumns];
  double real[kReals];
  int cube[kPlanes][4][5];
  int tail;
} Whole;

static Whole one, host, device;

static void fill(Whole* whole, int salt) {
  whole->head = salt, whole->tail = -salt;
  for (int i = 0; i < kRows * kColumns; i++) ((int*)whole->grid)[i] = salt + i;
  for (int i = 0; i < kReals; i++) whole->real[i] = salt + 100 + i;
  for (int i = 0; i < kPlanes * 20; i++) ((int*)whole->cube)[i] = salt + 200 + i;
}

/* What the model copies. */
static Whole *from, *to;

static void move_grid(int row, int rows, int row_step, int column, int columns, int column_step) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      int r = row + i * row_step, c = column + j * column_step;
      to->grid[r][c] = from->grid[r][c];
    }
}

static void move_cube(int plane, int planes, int row, int rows, int column, int columns) {
  for (int i = plane; i < plane + planes; i++)
    for (int j = row; j < row + rows; j++)
      memcpy(&to->cube[i][j][column], &from->cube[i][j][column], (size_t)columns * sizeof(int));
}

static void move_real(int first, int count, int step) {
  for (int i = 0; i < count; i++) to->real[first + i * step] = from->real[first + i * step];
}

#define PRAGMA(...) _Pragma(#__VA_ARGS__)
/* An update of these list items in one direction, and what it does to the model. */
#define FORM(model, ...)                          \
  do {                                            \
    if (to == &device) {                          \
      PRAGMA(omp target update to(__VA_ARGS__))   \
    } else {                                      \
      PRAGMA(omp target update from(__VA_ARGS__)) \
    }                                             \
    model;                                        \
  } while (0)

enum { kFormsOfPart = 14, kForms = 22 };

/* Of `grid` and `real`, which are mapped in any case. */
static void update_in_pieces(int form, Whole* p, int (*rows)[kColumns]) {
  (void)p, (void)rows;
  switch (form) {
#ifdef __clang__
    case 4: FORM(move_grid(1, 2, 1, 2, 3, 1), rows [1:2] [2:3]); break;
    case 5: FORM(move_grid(0, 3, 2, 1, 3, 2), rows [0:3:2] [1:3:2]); break;
#endif
#if __clang_major__ >= 22
    case 6: FORM(move_grid(1, 2, 1, 0, 3, 1), one.grid [1:2] [0:3]); break;
    case 7: FORM(move_grid(2, 3, 1, 5, 3, 1), p->grid [2:3] [5:3]); break;
    case 8: FORM(move_grid(1, 2, 3, 1, 3, 2), one.grid [1:2:3] [1:3:2]); break;
    case 9: FORM(move_real(1, 4, 2), one.real [1:4:2]); break;
    case 10: FORM(move_real(0, 3, 3), p->real [0:3:3]); break;
    case 11: FORM(move_grid(3, 2, 1, 1, 4, 1); move_real(0, 10, 1), one.grid [3:2] [1:4], one.real); break;
    case 12: FORM(move_grid(0, 6, 1, 7, 1, 1); move_real(2, 3, 1), p->real [2:3], p->grid [0:kRows] [7:1]); break;
    case 13: FORM(move_grid(0, 2, 1, 0, 8, 1); move_real(1, 2, 4), one.grid [0:2], one.real [1:2:4]); break;
#endif
    default: FORM(move_real(3, 4, 1), p->real [3:4]); break;
  }
}

static void update_of_whole(int form, Whole* p) {
  (void)p;
  switch (form) {
#if __clang_major__ >= 22
    case 16: FORM(move_cube(1, 2, 1, 2, 1, 3), one.cube [1:2] [1:2] [1:3]); break;
    case 17: FORM(move_cube(0, 2, 0, 4, 2, 1), p->cube [0:2] [0:4] [2:1]); break;
    case 18: FORM(move_cube(1, 1, 1, 3, 0, 2); to->head = from->head, one.head, one.cube[1] [1:3] [0:2]); break;
    case 19: FORM(move_grid(2, 2, 1, 4, 2, 1); to->tail = from->tail, p->grid [2:2] [4:2], p->tail); break;
#endif
    case 20: FORM(to->head = from->head; to->tail = from->tail, one.head, one.tail); break;
    case 21: FORM(*to = *from, one); break;
    default: FORM(move_cube(2, 1, 0, 4, 0, 5), p->cube [2:1]); break;
  }
}

static void update(int form) {
  Whole* p = &one;
  int is_to = below(2);
  from = is_to ? &host : &device;
  to = is_to ? &device : &host;
  switch (form) {
    case 0: FORM(move_grid(0, 6, 1, 0, 8, 1), one.grid); break;
    case 1: FORM(move_grid(2, 3, 1, 0, 8, 1), p->grid [2:3]); break;
    case 2: FORM(move_grid(4, 1, 1, 2, 5, 1), one.grid[4] [2:5]); break;
    case 3: FORM(move_grid(0, 6, 1, 0, 8, 1); move_real(0, 10, 1), p->grid, p->real); break;
    default: form < kFormsOfPart ? update_in_pieces(form, p, one.grid) : update_of_whole(form, p); break;
  }
}

/* The regions name the structure and no map clause: what is mapped of it is used. */
static void use_part(int salt) {
  if (salt % 2) {
#pragma omp target firstprivate(salt)
    {
      one.grid[salt % kRows][salt % kColumns] += salt;
      one.real[salt % kReals] *= 2;
    }
  } else {
#pragma omp target firstprivate(salt) nowait
    {
      one.grid[salt % kRows][salt % kColumns] += salt;
      one.real[salt % kReals] *= 2;
    }
#pragma omp taskwait
  }
  device.grid[salt % kRows][salt % kColumns] += salt;
  device.real[salt % kReals] *= 2;
}

static void use_whole(int salt) {
#pragma omp target firstprivate(salt)
  {
    one.head += salt;
    one.cube[salt % kPlanes][salt % 4][salt % 5]++;
    one.tail -= one.head;
  }
  device.head += salt;
  device.cube[salt % kPlanes][salt % 4][salt % 5]++;
  device.tail -= device.head;
}

static void compare(const char* what, const Whole* actual, const Whole* expected, uint64_t seed, int step, int form) {
  if (memcmp(actual, expected, sizeof *actual) == 0) return;
  size_t at = 0;
  while (((const char*)actual)[at] == ((const char*)expected)[at]) at++;
  check_failed("seed", (int)seed, "%s after step %d (form %d) differs at byte %zu", what, step, form, at);
}

static void leave(int is_whole) {
  if (is_whole) {
#pragma omp target exit data map(from : one)
    host = device;
  } else {
#pragma omp target exit data map(from : one.grid, one.real)
    memcpy(host.grid, device.grid, sizeof host.grid);
    memcpy(host.real, device.real, sizeof host.real);
  }
}

static void run(uint64_t seed) {
  state = seed;
  int is_whole = below(2);
  fill(&one, 1000 * (1 + below(9)));
  host = device = one;
  if (is_whole) {
#pragma omp target enter data map(to : one)
  } else {
#pragma omp target enter data map(to : one.grid, one.real)
  }
  for (int step = 0; step < kSteps; step++) {
    int form = below(is_whole ? kForms : kFormsOfPart), what = below(6), salt = below(1000);
    if (what == 0)
      fill(&one, salt), host = one;
    else if (what == 1)
      use_part(salt);
    else if (what == 2 && is_whole)
      use_whole(salt);
    else
      update(form);
    compare("host", &one, &host, seed, step, form);
  }
  leave(is_whole);
  compare("host at the end", &one, &host, seed, kSteps, 0);
}

int main(int argc, char** argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  if (!own_copies()) return 0;
  rounds = rounds_here(rounds);
  memset(&one, 0, sizeof one);
  for (uint64_t seed = first; seed < first + rounds; seed++) run(seed);
  return 0;
}
