/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions on parallel, for and sections: every operator, scalar types of all sizes, several variables in one clause,
 * array sections, and user-defined ones with an initialiser.
 *
 * Covers: parallel(reduction), parallel for, for(schedule:dynamic, nowait, reduction), sections(reduction), section,
 *  declare reduction(initializer)
 */
#include "../check.h"
#include <complex.h>
#include <limits.h>
#include <omp.h>

enum { kN = 1000 };

static void integer_operators(void) {
  int sum = 5, diff = 10, max = INT_MIN, min = INT_MAX, land = 1, lor = 0;
  unsigned band = ~0u, bor = 0, bxor = 0;
  long long prod = 3;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum) reduction(- : diff) reduction(max : max) \
    reduction(min : min) reduction(&& : land) reduction(|| : lor) reduction(& : band) reduction(| : bor)  \
    reduction(^ : bxor) reduction(* : prod)
  for (int i = 0; i < kN; i++) {
    sum += i;
    diff -= i;
    max = (i * 37) % 991 > max ? (i * 37) % 991 : max;
    min = (i * 37) % 991 - 5 < min ? (i * 37) % 991 - 5 : min;
    land = land && i != kN;
    lor = lor || i == 777;
    band &= ~(1u << (i % 7));
    bor |= 1u << (i % 31);
    bxor ^= (unsigned)i * 2654435761u;
    prod *= i % 100 == 0 ? 2 : 1;
  }
  unsigned bxor_expected = 0;
  for (int i = 0; i < kN; i++) bxor_expected ^= (unsigned)i * 2654435761u;
  CHECK_EQ(sum, 5 + kN * (kN - 1) / 2);
  CHECK_EQ(diff, 10 - kN * (kN - 1) / 2);
  CHECK_EQ(max, 990);
  CHECK_EQ(min, -5);
  CHECK_EQ(land, 1);
  CHECK_EQ(lor, 1);
  CHECK_EQ(band, ~0x7fu);
  CHECK_EQ(bor, 0x7fffffffu);
  CHECK_EQ(bxor, bxor_expected);
  CHECK_EQ(prod, 3 << 10);
}

static void types(void) {
  char c = 0;
  short s = 0;
  unsigned long long ull = 0;
  float f = 0;
  double d = 0, fmax = -1;
  long double ld = 0;
  double _Complex z = 0;
#pragma omp parallel for reduction(+ : c, s, ull, f, d, ld, z) reduction(max : fmax)
  for (int i = 0; i < kN; i++) {
    c += i % 2;
    s += 1;
    ull += 1ULL << 40;
    f += 1;
    d += i;
    ld += i;
    z += i + 2.0 * i * I;
    fmax = fmax > i * 0.5 ? fmax : i * 0.5;
  }
  CHECK_EQ(c, (char)500);
  CHECK_EQ(s, 1000);
  CHECK_EQ(ull, kN * (1ULL << 40));
  CHECK_EQ(f, 1000);
  CHECK_EQ(d, kN * (kN - 1) / 2);
  CHECK_EQ((long long)ld, kN * (kN - 1) / 2);
  CHECK_EQ(creal(z), kN * (kN - 1) / 2);
  CHECK_EQ(cimag(z), kN * (kN - 1));
  CHECK_NEAR(fmax, 499.5, 0);
}

typedef struct {
  long sum, count;
  char padding[48];
} Moments;

static void merge(Moments* out, const Moments* in) {
  out->sum += in->sum;
  out->count += in->count;
}
#pragma omp declare reduction(merge:Moments : merge(&omp_out, &omp_in)) initializer(omp_priv = (Moments){0, 0, {0}})

static void user_defined(void) {
  Moments m = {1000, 1, {0}};
#pragma omp parallel for reduction(merge : m)
  for (int i = 0; i < kN; i++) {
    m.sum += i;
    m.count++;
  }
  CHECK_EQ(m.sum, 1000 + kN * (kN - 1) / 2);
  CHECK_EQ(m.count, 1 + kN);
}

static void array_sections(int length) {
  long histogram[300] = {0};
  long* tail = histogram + 100;
#pragma omp parallel for reduction(+ : tail[ : length])
  for (int i = 0; i < kN; i++) tail[i % length] += i;
  for (int i = 0; i < 300; i++) {
    long expected = 0;
    for (int k = i - 100; i >= 100 && i < 100 + length && k < kN; k += length) expected += k;
    CHECK_EQ(histogram[i], expected);
  }
}

static void other_constructs(void) {
  int on_parallel = 0, on_sections = 0, nowait = 0;
#pragma omp parallel reduction(+ : on_parallel)
  {
    on_parallel += 2;
#pragma omp sections reduction(+ : on_sections)
    {
      on_sections += 1;
#pragma omp section
      on_sections += 10;
#pragma omp section
      on_sections += 100;
    }
#pragma omp for reduction(+ : nowait) nowait
    for (int i = 0; i < kN; i++) nowait += i;
#pragma omp barrier
    CHECK_EQ(nowait, kN * (kN - 1) / 2);
    CHECK_EQ(on_sections, 111);
  }
  CHECK_EQ(on_parallel, 2 * omp_get_max_threads());
}

int main(void) {
  for (int round = 0; round < 20; round++) {
    integer_operators();
    types();
    user_defined();
    array_sections(1 + round * 9);
    other_constructs();
  }
  return 0;
}
