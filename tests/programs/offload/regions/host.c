/* SPDX-License-Identifier: Apache-2.0
 *
 * Target constructs where the host is the only device: regions run here, private copies are made where the construct
 * stands, dependences order regions and data constructs, and deferred regions are tasks.
 *
 * Covers: target(if, device, map, firstprivate, private, depend, nowait, defaultmap, is_device_ptr),
 *  target data(map, use_device_ptr), target enter data(map, depend, nowait),
 *  target exit data(map, depend, nowait),
 *  target update(to, from, depend, nowait), declare target, omp_is_initial_device
 */
#include "../../check.h"
#include <omp.h>
#include <stdint.h>

#define N 1000
#define CHAIN 200

#pragma omp declare target
static int global = 7;
static int twice(int x) { return 2 * x; }
#pragma omp end declare target

static void runs_here(void) {
  int array[N], result = 0, initial = 0, scalar = 5, secret = 11;
  for (int i = 0; i < N; i++) array[i] = i;
#pragma omp target map(tofrom : result, initial) map(to : array) private(secret)
  {
    initial = omp_is_initial_device();
    secret = 3;
    for (int i = 0; i < N; i++) result += twice(array[i]) + secret;
    scalar++; /* firstprivate by default */
  }
  CHECK_EQ(result, N * (N - 1) + 3 * N);
  CHECK_EQ(initial, 1);
  CHECK_EQ(scalar, 5);
  CHECK_EQ(secret, 11);
#pragma omp target defaultmap(tofrom : scalar)
  scalar++;
  CHECK_EQ(scalar, 6);
  int host = omp_get_initial_device();
#pragma omp target device(host) map(tofrom : scalar)
  scalar++;
#pragma omp target if (scalar < 0) map(tofrom : scalar)
  scalar++;
  CHECK_EQ(scalar, 8);
#pragma omp target map(always, tofrom : global)
  global++;
  CHECK_EQ(global, 8);
  global = 7;
}

static void data_constructs(void) {
  int array[N] = {0}, *pointer = array;
#pragma omp target enter data map(to : array)
#pragma omp target data map(tofrom : array)
  {
#pragma omp target data map(tofrom : array) use_device_ptr(pointer)
    {
#pragma omp target is_device_ptr(pointer)
      for (int i = 0; i < N; i++) pointer[i] = i;
    }
#pragma omp target update from(array)
    CHECK_EQ(array[N - 1], N - 1);
    array[0] = 5;
#pragma omp target update to(array[0 : 1])
  }
#pragma omp target exit data map(from : array)
  CHECK_EQ(array[0], 5);
}

/* The region's copies have the values of the moment when the construct is encountered, and the variables' alignment. */
typedef struct {
  _Alignas(64) char bytes[70];
} Aligned;

static void private_copies(void) {
  int seen[8] = {0}, misaligned = 0;
#pragma omp parallel
#pragma omp single
  {
    Aligned block;
    int value;
    char small[3];
    for (int i = 0; i < 8; i++) {
      value = i;
      memset(small, i, sizeof small);
      memset(&block, i, sizeof block);
#pragma omp target nowait firstprivate(value, block, small) map(tofrom : seen[i : 1]) map(tofrom : misaligned) \
    depend(out : seen[i])
      {
        if ((uintptr_t)&block % 64 != 0) misaligned = 1;
        seen[i] = value + block.bytes[69] + small[2];
      }
    }
    value = -1;
    memset(small, -1, sizeof small);
    memset(&block, -1, sizeof block);
#pragma omp taskwait
  }
  for (int i = 0; i < 8; i++) CHECK_EQ(seen[i], 3 * i);
  CHECK_EQ(misaligned, 0);
}

/* Every construct that may have a depend clause is one link of a chain. */
static void chain(void) {
  int x = 0, y = 0, wrong = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < CHAIN; i++) {
#pragma omp task depend(inout : x) shared(x, y, wrong)
      {
        wrong += x != 3 * i || y != x;
        x++;
      }
#pragma omp target enter data map(to : y) depend(inout : x) nowait
#pragma omp target nowait map(tofrom : x, y) depend(inout : x)
      {
        x++;
        y = x + 1;
      }
#pragma omp target update from(y) depend(inout : x) nowait
#pragma omp target map(tofrom : x, y) depend(inout : x)
      x++;
      wrong += x != 3 * (i + 1); /* without nowait the region has ended */
#pragma omp target exit data map(from : y) depend(inout : x) nowait
      if (i % 16 == 0) {
#pragma omp target update to(y) depend(in : x)
        wrong += y != 3 * (i + 1);
      }
    }
#pragma omp taskwait
  }
  CHECK_EQ(wrong, 0);
  CHECK_EQ(x, 3 * CHAIN);
  CHECK_EQ(y, 3 * CHAIN);
}

/* Taskgroups and barriers wait for deferred regions as for other tasks. */
static void many(void) {
  int after_group = 0, total = 0;
#pragma omp parallel
  {
#pragma omp single
    {
#pragma omp taskgroup
      for (int i = 0; i < 300; i++) {
#pragma omp target nowait map(tofrom : total)
#pragma omp atomic
        total++;
      }
      after_group = total;
    }
#pragma omp target nowait map(tofrom : total)
#pragma omp atomic
    total++;
#pragma omp barrier
    CHECK_EQ(total, 300 + omp_get_num_threads());
  }
  CHECK_EQ(after_group, 300);
  int outside = 0;
#pragma omp target nowait map(tofrom : outside)
  outside = 1;
#pragma omp taskwait
  CHECK_EQ(outside, 1);
}

int main(void) {
  runs_here();
  data_constructs();
  private_copies();
  chain();
  many();
#pragma omp parallel
  data_constructs();
  return 0;
}
