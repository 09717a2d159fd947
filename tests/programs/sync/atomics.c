/* SPDX-License-Identifier: Apache-2.0
 *
 * atomic on types that the processor can update in one instruction and on types that it cannot (long double, complex),
 * where the compilers call the runtime or libatomic: update, capture, read, write.
 *
 * Covers: parallel(num_threads), atomic(read, write, update, capture, seq_cst), flush
 */
#include "../check.h"
#include <complex.h>
#include <omp.h>
#include <stdint.h>

enum { kRounds = 2000 };

static void updates(int n) {
  signed char c = 0;
  short s = 0;
  int i = 0, product_bits = 0;
  int64_t l = 0;
  unsigned u = 0;
  float f = 0;
  double d = 0;
  long double ld = 0;
#ifdef __clang__
  double _Complex z = 0;
  float _Complex zf = 0;
#endif
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) {
#pragma omp atomic
    c++;
#pragma omp atomic
    s += 2;
#pragma omp atomic update
    i -= 3;
#pragma omp atomic
    l += 1LL << 33;
#pragma omp atomic
    u ^= 1u << (r % 32);
#pragma omp atomic
    product_bits |= 1 << (r % 20);
#pragma omp atomic
    f += 1.0f;
#pragma omp atomic seq_cst
    d += 0.5;
#pragma omp atomic
    ld += 0.25L;
#ifdef __clang__ /* GCC refuses complex operands */
#pragma omp atomic
    z += 1.0 + 2.0 * I;
#pragma omp atomic
    zf += 1.0f * I;
#endif
  }
  long total = (long)n * kRounds;
  unsigned bits = 0;
  for (long k = 0; k < total; k++) bits ^= 1u << (k % kRounds % 32);
  CHECK_EQ(c, (signed char)total);
  CHECK_EQ(s, (short)(2 * total));
  CHECK_EQ(i, -3 * total);
  CHECK_EQ(l, total << 33);
  CHECK_EQ(u, bits);
  CHECK_EQ(product_bits, (1 << 20) - 1);
  CHECK_NEAR(f, total, 0);
  CHECK_NEAR(d, 0.5 * total, 0);
  CHECK_NEAR(ld, 0.25 * total, 0);
#ifdef __clang__
  CHECK_NEAR(creal(z), total, 0);
  CHECK_NEAR(cimag(z), 2.0 * total, 0);
  CHECK_NEAR(cimagf(zf), total, 0);
#endif
}

static void captures(int n) {
  static unsigned char taken[64 * kRounds];
  memset(taken, 0, sizeof taken);
  long ticket = 0;
  long double wide = 0;
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) {
    long mine;
#pragma omp atomic capture
    mine = ticket++;
    CHECK_RANGE(mine, 0, n * kRounds - 1);
    taken[mine]++;
    long double before;
#pragma omp atomic capture
    {
      before = wide;
      wide += 1;
    }
    CHECK(before >= 0 && before < n * kRounds);
  }
  for (int k = 0; k < n * kRounds; k++) CHECK_EQ(taken[k], 1);
  CHECK_NEAR(wide, n * kRounds, 0);
}

/* A long double that always holds one of two values is never seen torn. */
static void reads_and_writes(void) {
  long double value = 1.0L / 3;
  const long double a = 1.0L / 3, b = -65536.0L / 7;
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) {
    long double seen;
#pragma omp atomic write
    value = r % 2 ? a : b;
#pragma omp atomic read
    seen = value;
    CHECK(seen == a || seen == b);
  }
}

static void flush_hand_over(void) {
  int data = 0, ready = 0;
#pragma omp parallel num_threads(2) shared(data, ready)
  {
    if (omp_get_thread_num() == 0) {
      data = 99;
#pragma omp flush
#pragma omp atomic write
      ready = 1;
    } else {
      int seen = 0;
      while (!seen) {
#pragma omp atomic read
        seen = ready;
      }
#pragma omp flush
      CHECK_EQ(data, 99);
    }
  }
}

int main(void) {
  omp_set_dynamic(0);
  int n = omp_get_max_threads();
  updates(n);
  captures(n);
  reads_and_writes();
  for (int round = 0; round < 20; round++) flush_hand_over();
  return 0;
}
