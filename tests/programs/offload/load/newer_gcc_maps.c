/* SPDX-License-Identifier: Apache-2.0
 *
 * Sections that the pointers of a structure lead to, as code of GCC 14 to 16 passes them in data constructs: the
 * pointers are sections without elements, which the construct does not map. (12 and 13 pass the other sections and the
 * attachments only.) The rest is the code of the compiler at hand.
 *
 * Covers: entry points of other compilers, target enter data, target exit data
 */
#include "../device.h"

typedef struct {
  int rows;
  double* value;
  int* column;
  double diagonal[8];
} Matrix;

void GOMP_target_data_ext(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds);
void GOMP_target_end_data(void);
void GOMP_target_enter_exit_data(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds,
                                 unsigned flags, void** depend);

enum { kDefaultDevice = -1, kExit = 2 };
enum { kAlloc = 0, kTo = 1, kFrom = 2, kToFrom = 3, kRelease = 0x17 };
enum { kStructure = 0x1c, kAttach = 0x50, kDetach = 0x51 };
enum { kInts = 2 << 8, kPointers = 3 << 8, kNothing = 0x0f | kPointers, kCount = 1000 };

/* What a construct passes. */
typedef struct {
  size_t count, sizes[8];
  void* addresses[8];
  unsigned short kinds[8];
} Maps;

static void put(Maps* maps, void* address, size_t size, unsigned kind) {
  maps->addresses[maps->count] = address;
  maps->sizes[maps->count] = size;
  maps->kinds[maps->count++] = (unsigned short)kind;
}

static void put_value(Maps* maps, Matrix* m, unsigned kind, unsigned attach) {
  put(maps, m->value, kCount * sizeof(double), kind | kPointers);
  put(maps, &m->value, 0, attach);
}

static void put_column(Maps* maps, Matrix* m, unsigned kind, unsigned attach) {
  put(maps, m->column, kCount * sizeof(int), kind | kInts);
  put(maps, &m->column, 0, attach);
}

static void construct(Maps* maps, unsigned flags) {
  GOMP_target_enter_exit_data(kDefaultDevice, maps->count, maps->addresses, maps->sizes, maps->kinds, flags, NULL);
}

/* map(KIND: m.value[0 : kCount]) map(to: m.column[0 : kCount]) */
static Maps sections(Matrix* m, unsigned kind) {
  Maps maps = {0};
  put(&maps, m, 2, kStructure);
  put(&maps, &m->value, 0, kNothing);
  put(&maps, &m->column, 0, kNothing);
  put_value(&maps, m, kind, kAttach);
  put_column(&maps, m, kTo, kAttach);
  return maps;
}

/* target enter data map(to: m.value[0 : kCount], m.column[0 : kCount]) */
static void enter(Matrix* m) {
  Maps maps = sections(m, kTo);
  construct(&maps, 0);
}

/* target exit data map(from: m.value[0 : kCount]) map(release: m.column[0 : kCount]) */
static void leave(Matrix* m) {
  Maps maps = {0};
  put(&maps, &m->value, 0, kNothing);
  put(&maps, &m->column, 0, kNothing);
  put_value(&maps, m, kFrom, kDetach);
  put_column(&maps, m, kRelease, kDetach);
  construct(&maps, kExit);
}

static Matrix make(void) {
  Matrix m = {kCount, calloc(kCount, sizeof(double)), malloc(kCount * sizeof(int)), {0}};
  for (int i = 0; i < kCount; i++) m.column[i] = kCount - i;
  return m;
}

static void check(Matrix* m, int factor) {
  for (int i = 0; i < kCount; i++) CHECK_NEAR(m->value[i], (double)factor * (kCount - i), 0);
  free(m->value);
  free(m->column);
}

/* Regions map the structure for themselves, all of it. */
static void implicit(void) {
  Matrix m = make();
  enter(&m);
  for (int step = 0; step < 5; step++) {
#pragma omp target
    for (int i = 0; i < m.rows; i++) m.value[i] += m.column[i];
#pragma omp target nowait
    for (int i = 0; i < m.rows; i++) m.value[i] *= 2;
#pragma omp taskwait
  }
  leave(&m);
  check(&m, 62);
}

/* The structure is mapped around the sections: they do not count as maps of it. */
static void around(void) {
  Matrix m = make();
#pragma omp target enter data map(to : m)
  enter(&m);
#pragma omp target
  for (int i = 0; i < m.rows; i++) m.value[i] += m.column[i];
  leave(&m);
  CHECK_PRESENT(&m, 1);
#pragma omp target exit data map(release : m)
  CHECK_PRESENT(&m, 0);
  check(&m, 1);
}

/* The structure is mapped later than the sections, which go first. */
static void later(void) {
  Matrix m = make();
  enter(&m);
  CHECK_PRESENT(&m.value, 0);
#pragma omp target enter data map(to : m)
#pragma omp target
  for (int i = 0; i < m.rows; i++) m.value[i] += m.column[i];
  leave(&m);
  CHECK_PRESENT(&m, 1);
#pragma omp target exit data map(release : m)
  CHECK_PRESENT(&m, 0);
  check(&m, 1);
}

/* The same with target data map(tofrom: m.value[0 : kCount]) map(to: m.column[0 : kCount]). */
static void data(void) {
  Matrix m = make();
  Maps maps = sections(&m, kToFrom);
  GOMP_target_data_ext(kDefaultDevice, maps.count, maps.addresses, maps.sizes, maps.kinds);
#pragma omp target enter data map(to : m)
#pragma omp target
  for (int i = 0; i < m.rows; i++) m.value[i] += m.column[i];
  GOMP_target_end_data();
  CHECK_PRESENT(&m, 1);
#pragma omp target exit data map(release : m)
  check(&m, 1);
}

/* target enter data map(to: m.rows, m.column, m.value[0 : kCount], m.column[0 : kCount]) */
static void beside_members(void) {
  Matrix m = make();
  Maps maps = {0}, last = {0};
  put(&maps, &m, 3, kStructure);
  put(&maps, &m.rows, sizeof m.rows, kTo | kInts);
  put(&maps, &m.value, 0, kNothing);
  put(&maps, &m.column, sizeof m.column, kAlloc | kPointers);
  put_value(&maps, &m, kTo, kAttach);
  put_column(&maps, &m, kTo, kAttach);
  construct(&maps, 0);
  CHECK_PRESENT(&m.rows, 1);
  CHECK_PRESENT(&m.column, 1);
#pragma omp target
  for (int i = 0; i < m.rows; i++) m.column[i] *= 3;
#pragma omp target update from(m.column[0 : kCount])
  put(&last, &m.rows, sizeof m.rows, kRelease | kInts);
  put(&last, &m.value, 0, kNothing);
  put(&last, &m.column, sizeof m.column, kRelease | kPointers);
  put_value(&last, &m, kRelease, kDetach);
  put_column(&last, &m, kRelease, kDetach);
  construct(&last, kExit);
  CHECK_PRESENT(&m.rows, 0);
  CHECK_PRESENT(&m.column, 0);
  for (int i = 0; i < kCount; i++) CHECK_EQ(m.column[i], 3 * (kCount - i));
  check(&m, 0);
}

int main(void) {
  implicit();
  around();
  later();
  data();
  beside_members();
  return 0;
}
