/* SPDX-License-Identifier: Apache-2.0
 *
 * Map types and their modifiers: which way data goes at the start and the end of a construct, and what the device
 * keeps.
 *
 * Covers: target(map:to/from/tofrom/alloc/always/close), target data(map:to/from/tofrom/alloc),
 *  target enter data(map:to/alloc/always), target exit data(map:from/release/delete/always)
 */
#include "../device.h"

#define N 100

static void fill(int* array, int first) {
  for (int i = 0; i < N; i++) array[i] = first + i;
}

static void check_filled(const int* array, int first) {
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], first + i);
}

static void on_target(void) {
  int in[N], out[N], both[N], scratch[N], sum = 0;
  fill(in, 10), fill(out, -1), fill(both, 1000), fill(scratch, 50);
#pragma omp target map(to : in) map(from : out) map(tofrom : both, sum) map(alloc : scratch)
  {
    for (int i = 0; i < N; i++) {
      scratch[i] = in[i] * 2;
      out[i] = 7 + i;
      both[i] += 1;
      in[i] = 0;
    }
    for (int i = 0; i < N; i++) sum += scratch[i];
  }
  CHECK_EQ(sum, 2 * (10 * N + N * (N - 1) / 2));
  check_filled(out, 7);
  check_filled(both, 1001);
  CHECK_COPY(in[5], 15, 0);
  CHECK_COPY(scratch[5], 55, 30);
}

/* Without a clause: scalars are copied in, arrays go both ways; a map without a type is tofrom. */
static void implicit(void) {
  int scalar = 3, array[N];
  double real = 1.5;
  long plain = 1;
  fill(array, 0);
#pragma omp target map(plain)
  {
    scalar += 1;
    real *= 2;
    plain += (long)real + scalar;
    array[3] = scalar;
  }
  CHECK_EQ(scalar, 3);
  CHECK_NEAR(real, 1.5, 0);
  CHECK_EQ(plain, 1 + 3 + 4);
  CHECK_EQ(array[3], 4);
  CHECK_EQ(array[4], 4);
}

static void on_data(void) {
  int in[N], out[N], both[N], scratch[N], seen = 0;
  fill(in, 1), fill(out, 2), fill(both, 3), fill(scratch, 4);
#pragma omp target data map(to : in) map(from : out) map(tofrom : both) map(alloc : scratch)
  {
    in[0] = both[0] = 77; /* the device has its copies already */
#pragma omp target map(from : seen) map(tofrom : in, out, both, scratch)
    {
      seen = in[0] + 100 * both[0];
      for (int i = 0; i < N; i++) {
        scratch[i] = in[i];
        out[i] = scratch[i] + 1;
        both[i] = i;
      }
    }
    CHECK_COPY(both[1], 4, 1); /* nothing comes back before the end */
  }
  CHECK_COPY(seen, 301, 7777);
  CHECK_EQ(out[1], 3);
  check_filled(both, 0);
  CHECK_EQ(in[1], 2);
  CHECK_COPY(scratch[1], 5, 2);
}

static void enter_and_exit(void) {
  static int array[N];
  int seen = 0;
  fill(array, 5);
#pragma omp target enter data map(to : array)
  CHECK_PRESENT(array, 1);
  array[0] = -5;
#pragma omp target map(from : seen)
  {
    seen = array[0];
    array[1] = 60;
  }
  CHECK_COPY(seen, 5, -5);
#pragma omp target exit data map(release : array) /* no transfer */
  CHECK_PRESENT(array, 0);
  CHECK_COPY(array[1], 6, 60);
#pragma omp target enter data map(alloc : array)
#pragma omp target
  for (int i = 0; i < N; i++) array[i] = 30 + i;
#pragma omp target exit data map(from : array)
  CHECK_PRESENT(array, 0);
  check_filled(array, 30);
#pragma omp target enter data map(to : array)
#pragma omp target enter data map(to : array)
#pragma omp target
  array[2] = 0;
#pragma omp target exit data map(delete : array)
  CHECK_PRESENT(array, 0);
  CHECK_COPY(array[2], 32, 0);
}

/* `always` transfers although the object is present; without it nothing moves. */
static void always(void) {
  int x = 1, seen = 0;
#pragma omp target enter data map(to : x)
  x = 2;
#pragma omp target map(to : x) map(from : seen)
  seen = x;
  CHECK_COPY(seen, 1, 2);
#pragma omp target map(always, to : x) map(from : seen)
  seen = x;
  CHECK_EQ(seen, 2);
#pragma omp target map(tofrom : x)
  x = 3;
  CHECK_COPY(x, 2, 3);
#pragma omp target map(always, from : x)
  x = 4;
  CHECK_EQ(x, 4);
  x = 5;
#pragma omp target map(always, tofrom : x)
  x++;
  CHECK_EQ(x, 6);
#pragma omp target data map(always, tofrom : x)
  {
#pragma omp target
    x++; /* x is firstprivate here: it has no map clause */
#pragma omp target map(alloc : x)
    x++;
  }
  CHECK_EQ(x, 7);
  x = 8;
#pragma omp target enter data map(always, to : x)
#pragma omp target map(tofrom : x)
  x++;
#pragma omp target exit data map(always, from : x) /* still mapped once */
  CHECK_EQ(x, 9);
  CHECK_PRESENT(&x, 1);
#pragma omp target exit data map(release : x)
  CHECK_PRESENT(&x, 0);
}

/* `close` asks for memory near the device: a copy as any other. */
static void near_the_device(void) {
  int array[N], x = 1;
  fill(array, 2);
#pragma omp target map(close, tofrom : array) map(always, close, tofrom : x)
  {
    x = array[0];
    for (int i = 0; i < N; i++) array[i]++;
  }
  CHECK_EQ(x, 2);
  check_filled(array, 3);
#pragma omp target data map(close, tofrom : array)
  {
#pragma omp target
    for (int i = 0; i < N; i++) array[i]++;
  }
  check_filled(array, 4);
}

/* Every size and alignment that a scalar can have. */
static void scalars(void) {
  char c = 1;
  short s = 2;
  long long l = 3;
  float f = 4;
  double d = 5;
  long double ld = 6;
  _Bool b = 0;
  _Complex double z = 7;
  int *null = NULL, is_null = 0;
  double total = 0;
#pragma omp target map(tofrom : total, is_null, ld, z)
  {
    total = c + s + l + f + d + (b ? 100 : 0);
    is_null = null == NULL;
    ld += 1;
    z += 1;
  }
  CHECK_NEAR(total, 15, 0);
  CHECK_EQ(is_null, 1);
  CHECK_NEAR(ld, 7, 0);
  CHECK_NEAR(__real__ z, 8, 0);
  int ok = 0;
#pragma omp target firstprivate(c, s, l, f, d, ld, b, z) map(from : ok)
  ok = c == 1 && s == 2 && l == 3 && f == 4 && d == 5 && ld == 7 && !b && __real__ z == 8;
  CHECK_EQ(ok, 1);
}

int main(void) {
  on_target();
  implicit();
  on_data();
  enter_and_exit();
  always();
  near_the_device();
  scalars();
  return 0;
}
