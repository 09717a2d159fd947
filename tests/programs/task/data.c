/* SPDX-License-Identifier: Apache-2.0
 *
 * What a task carries: firstprivate blocks of every size from one byte to more than a slab's block, over-aligned ones,
 * variable-length arrays, many variables at once, and shared variables of the creator.
 *
 * Covers: task(firstprivate, shared)
 */
#include "../check.h"
#include <omp.h>
#include <stdint.h>

static int done;

#define SIZED_TASKS(bytes)                                                \
  do {                                                                    \
    typedef struct {                                                      \
      unsigned char data[bytes];                                          \
    } Sized;                                                              \
    for (int t = 0; t < 20; t++) {                                        \
      Sized block;                                                        \
      memset(block.data, t + 1, sizeof block.data);                       \
      _Pragma("omp task firstprivate(block, t)") {                        \
        for (int b = 0; b < (bytes); b++) CHECK_EQ(block.data[b], t + 1); \
        memset(block.data, 0xff, sizeof block.data);                      \
        _Pragma("omp atomic") done++;                                     \
      }                                                                   \
      memset(block.data, 0xee, sizeof block.data);                        \
    }                                                                     \
  } while (0)

static void all_sizes(void) {
  done = 0;
#pragma omp parallel
#pragma omp single
  {
    SIZED_TASKS(1);
    SIZED_TASKS(3);
    SIZED_TASKS(8);
    SIZED_TASKS(31);
    SIZED_TASKS(64);
    SIZED_TASKS(100);
    SIZED_TASKS(250);
    SIZED_TASKS(511);
    SIZED_TASKS(1024);
    SIZED_TASKS(4000);
    SIZED_TASKS(70000);
  }
  CHECK_EQ(done, 11 * 20);
}

typedef struct {
  _Alignas(16) double pair[2];
} Aligned16;
typedef struct {
  _Alignas(64) double line[8];
} Aligned64;
typedef struct {
  _Alignas(256) double block[3];
} Aligned256;

#define ALIGNED_TASKS(type, field, alignment)            \
  for (int t = 0; t < 20; t++) {                         \
    char before = (char)t;                               \
    type value;                                          \
    value.field[1] = t;                                  \
    _Pragma("omp task firstprivate(before, value, t)") { \
      CHECK_EQ((uintptr_t)&value % (alignment), 0);      \
      CHECK_EQ(value.field[1], t);                       \
      CHECK_EQ(before, t);                               \
      _Pragma("omp atomic") done++;                      \
    }                                                    \
  }

static void aligned_blocks(void) {
  done = 0;
#pragma omp parallel
#pragma omp single
  {ALIGNED_TASKS(Aligned16, pair, 16)
#ifndef __clang__ /* Clang passes no alignment above 16 to its runtime and copies with unaligned moves */
       ALIGNED_TASKS(Aligned64, line, 64) ALIGNED_TASKS(Aligned256, block, 256)
#endif
  }
#ifndef __clang__
  CHECK_EQ(done, 60);
#else
  CHECK_EQ(done, 20);
#endif
}

#ifndef __clang__ /* Clang has no firstprivate for variable-length arrays on a task */
static void variable_length(int length) {
  done = 0;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 30; t++) {
    long data[length + t];
    for (int i = 0; i < length + t; i++) data[i] = i * t;
#pragma omp task firstprivate(data, t, length)
    {
      CHECK_EQ(sizeof data, (length + t) * sizeof(long));
      for (int i = 0; i < length + t; i++) CHECK_EQ(data[i], (long)i * t);
#pragma omp atomic
      done++;
    }
    memset(data, 0, sizeof data);
  }
  CHECK_EQ(done, 30);
}
#endif

static void many_variables(void) {
  long total = 0;
#pragma omp parallel
#pragma omp single
  for (int t = 0; t < 50; t++) {
    char a = 1;
    short b = 2;
    int c = 3;
    long d = 4;
    float e = 5;
    double f = 6;
    long double g = 7;
    int h[5] = {8, 8, 8, 8, 8};
    const char* name = "task";
#pragma omp task shared(total) firstprivate(a, b, c, d, e, f, g, h, name, t)
    {
      CHECK(strcmp(name, "task") == 0);
      long sum = a + b + c + d + (long)e + (long)f + (long)g + h[0] + h[4] + t;
#pragma omp atomic
      total += sum;
    }
  }
  CHECK_EQ(total, 50 * 44 + 50 * 49 / 2);
}

/* Variables of a task that are shared with its children live until taskwait. */
static long shared_with_children(int depth) {
  if (depth == 0) return 1;
  long left = 0, right = 0;
#pragma omp task shared(left) firstprivate(depth)
  left = shared_with_children(depth - 1);
#pragma omp task shared(right) firstprivate(depth)
  right = shared_with_children(depth - 1);
#pragma omp taskwait
  return left + right;
}

int main(void) {
  for (int round = 0; round < 5; round++) {
    all_sizes();
    aligned_blocks();
#ifndef __clang__
    variable_length(1 + round * 40);
#endif
    many_variables();
    long leaves = 0;
#pragma omp parallel
#pragma omp single
    leaves = shared_with_children(10);
    CHECK_EQ(leaves, 1024);
  }
  return 0;
}
