/* SPDX-License-Identifier: Apache-2.0
 *
 * Sections that the pointers of a structure lead to are mapped first, and the structure later: by regions that name it
 * without a map clause, or by a data construct. GCC and Clang 22 do not map the pointers with the sections, Clang
 * before 22 does: then only they are there. The pointers lead to the sections in any case, unless these are gone or the
 * pointer has another value by then.
 *
 * Covers: target(nowait), target enter data(map:to), target exit data(map:from/release)
 */
#include "../device.h"
#include <stdint.h>

enum { kN = 1000 };

typedef struct {
  int rows;
  double* value;
  int* column;
  double diagonal[8];
} Matrix;

static void make(Matrix* m) {
  m->rows = kN;
  m->value = calloc(kN, sizeof(double));
  m->column = malloc(kN * sizeof(int));
  for (int i = 0; i < kN; i++) m->column[i] = kN - i;
}

static void drop(Matrix* m) {
  free(m->value);
  free(m->column);
}

static void implicit(void) {
  Matrix m;
  make(&m);
#pragma omp target enter data map(to : m.value[0 : kN], m.column[0 : kN])
  for (int step = 0; step < 5; step++) {
#pragma omp target
    for (int i = 0; i < kN; i++) m.value[i] += m.column[i];
#pragma omp target nowait
    for (int i = 0; i < kN; i++) m.value[i] *= 2;
#pragma omp taskwait
  }
#pragma omp target exit data map(from : m.value[0 : kN]) map(release : m.column[0 : kN])
  for (int i = 0; i < kN; i++) CHECK_NEAR(m.value[i], 62.0 * (kN - i), 0);
  drop(&m);
}

#if !defined(__clang__) || __clang_major__ >= 22
static uintptr_t value_on_device(Matrix* m) {
  uintptr_t seen = 0;
#pragma omp target map(to : m[0 : 1]) map(from : seen)
  seen = (uintptr_t)m->value;
  return seen;
}

static void mapped_later(void) {
  Matrix m;
  make(&m);
  double* value = m.value;
#pragma omp target enter data map(to : m.value[0 : kN])
#pragma omp target enter data map(to : m)
#pragma omp target
  for (int i = 0; i < m.rows; i++) m.value[i] += i;
#pragma omp target exit data map(from : m)
  CHECK(m.value == value);
#pragma omp target exit data map(from : m.value[0 : kN])
  for (int i = 0; i < kN; i++) CHECK_NEAR(m.value[i], i, 0);
  drop(&m);
}

static void gone_before(void) {
  Matrix m;
  make(&m);
#pragma omp target enter data map(to : m.value[0 : kN])
#pragma omp target exit data map(release : m.value[0 : kN])
  CHECK(value_on_device(&m) == (uintptr_t)m.value);
  drop(&m);
}

static void changed_before(void) {
  Matrix m;
  make(&m);
  double *value = m.value, other;
#pragma omp target enter data map(to : m.value[0 : kN])
  m.value = &other;
  CHECK(value_on_device(&m) == (uintptr_t)&other);
  m.value = value;
  CHECK(value_on_device(&m) != (uintptr_t)value);
#pragma omp target exit data map(release : m.value[0 : kN])
  drop(&m);
}
#endif

int main(void) {
  implicit();
#if !defined(__clang__) || __clang_major__ >= 22
  if (own_copies()) {
    mapped_later();
    gone_before();
    changed_before();
  }
#endif
  return 0;
}
