/* SPDX-License-Identifier: Apache-2.0
 *
 * Task reductions in regions that run at the same time: each has a copy of the variable on its device, and nodes of a
 * cluster combine theirs before the result comes home. Sums, a maximum and a structure with an operation of its own;
 * groups in groups; many groups one after the other, with copies in the same place; groups in which several tasks
 * create the tasks; some regions and tasks on the host; large structures; groups that are cancelled; and what nodes
 * cannot combine, so that the regions run one after the other: arrays of variable length, operations that read
 * variables of the program, and variables that are mapped. Below undeferred and included tasks, too.
 *
 * Arguments: GROUPS.
 *
 * Covers: target(in_reduction, nowait, depend, if, map:tofrom), taskgroup(task_reduction), task(in_reduction),
 *   declare reduction
 */
#include "../device.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

enum { kRegions = 60, kWide = 3000 };

#pragma omp declare target
typedef struct {
  int count;
  long least, greatest;
} range_t;

typedef struct {
  long sums[kWide];
} wide_t;

static void widen(range_t* into, const range_t* from) {
  if (from->count == 0) return;
  into->least = into->count == 0 || from->least < into->least ? from->least : into->least;
  into->greatest = into->count == 0 || from->greatest > into->greatest ? from->greatest : into->greatest;
  into->count += from->count;
}

static void add_wide(wide_t* into, const wide_t* from) {
  for (int i = 0; i < kWide; i++) into->sums[i] += from->sums[i];
}

static void note(range_t* range, long value) {
  range_t one = {1, value, value};
  widen(range, &one);
}

static long hashed(long i) { return (long)((uint64_t)i * 2654435761u % 100003); }
#pragma omp end declare target

#pragma omp declare reduction(range:range_t : widen(&omp_out, &omp_in)) initializer(omp_priv = (range_t){0, 0, 0})
#pragma omp declare reduction(wide:wide_t : add_wide(&omp_out, &omp_in)) initializer(omp_priv = (wide_t){{0}})

/* All kinds of operations, and regions that depend on each other by data of their own. */
static void kinds(long seed) {
  long sum = seed, greatest = LONG_MIN, chain = 0, expected = LONG_MIN, total = seed;
  range_t range = {0, 0, 0}, all = {0, 0, 0};
#pragma omp taskgroup task_reduction(+ : sum) task_reduction(max : greatest) task_reduction(range : range)
  for (long i = 0; i < kRegions; i++) {
    long value = hashed(seed * kRegions + i);
    switch (i % 4) {
      case 0:
#pragma omp target nowait in_reduction(+ : sum) in_reduction(max : greatest) in_reduction(range : range)
      {
        sum += value;
        greatest = value > greatest ? value : greatest;
        note(&range, value);
      } break;
      case 1:
#pragma omp target nowait in_reduction(+ : sum) in_reduction(max : greatest) in_reduction(range : range) \
    depend(inout : chain) map(tofrom : chain)
      {
        chain++;
        sum += value;
        greatest = value > greatest ? value : greatest;
        note(&range, value);
      } break;
      case 2:
#pragma omp task in_reduction(+ : sum) in_reduction(max : greatest) in_reduction(range : range)
      {
        sum += value;
        greatest = value > greatest ? value : greatest;
        note(&range, value);
      } break;
      default:
#pragma omp target nowait in_reduction(+ : sum) in_reduction(max : greatest) \
    in_reduction(range : range) if (value % 2 == 0)
      {
        sum += value;
        greatest = value > greatest ? value : greatest;
        note(&range, value);
      }
    }
  }
  for (long i = 0; i < kRegions; i++) {
    long value = hashed(seed * kRegions + i);
    total += value;
    if (value > expected) expected = value;
    note(&all, value);
  }
  CHECK_EQ(sum, total);
  CHECK_EQ(greatest, expected);
  CHECK_EQ(range.count, all.count);
  CHECK_EQ(range.least, all.least);
  CHECK_EQ(range.greatest, all.greatest);
  CHECK_EQ(chain, kRegions / 4);
}

/* A group in each task of a group: inner regions take part in both. Clang's code maps the outer task's copy, so no
 * other one may use that meanwhile. */
static void in_each_other(void) {
  long outer = 0, order = 0;
#pragma omp taskgroup task_reduction(+ : outer)
  for (int i = 0; i < 4; i++) {
#pragma omp task in_reduction(+ : outer) depend(inout : order)
    {
      long inner = 0;
#pragma omp taskgroup task_reduction(+ : inner)
      for (int k = 0; k < 8; k++) {
#pragma omp target nowait in_reduction(+ : outer, inner)
        {
          outer += 100;
          inner += k;
        }
      }
      CHECK_EQ(inner, 28);
      outer += inner;
    }
  }
  CHECK_EQ(outer, 4 * (800 + 28));
  CHECK_EQ(order, 0);
}

static void wide(void) {
  wide_t* all = calloc(1, sizeof *all);
  wide_t sums = {{1}};
#pragma omp taskgroup task_reduction(wide : sums)
  for (int i = 0; i < 12; i++) {
#pragma omp target nowait in_reduction(wide : sums)
    for (int k = 0; k < kWide; k++) sums.sums[k] += hashed(i * kWide + k);
  }
  all->sums[0] = 1;
  for (int i = 0; i < 12; i++) {
    for (int k = 0; k < kWide; k++) all->sums[k] += hashed(i * kWide + k);
  }
  for (int k = 0; k < kWide; k++) CHECK_EQ(sums.sums[k], all->sums[k]);
  free(all);
}

static void of_length(int n) {
  long sums[n];
  for (int i = 0; i < n; i++) sums[i] = i;
  for (int group = 1; group <= 3; group++) {
#pragma omp taskgroup task_reduction(+ : sums)
    for (int k = 0; k < 10; k++) {
#pragma omp target nowait in_reduction(+ : sums)
      for (int i = 0; i < n; i++) sums[i] += 2 * i;
    }
    for (int i = 0; i < n; i++) CHECK_EQ(sums[i], i + group * 20L * i);
  }
}

/* It has another value than in the program's file. */
static int scale = 0;
static void add_scaled(long* into, const long* from) { *into += *from * scale; }
#pragma omp declare reduction(scaled:long : add_scaled(&omp_out, &omp_in)) initializer(omp_priv = 0)

static void by_variable(void) {
  long sum = 0;
  scale = 1;
  for (int group = 1; group <= 3; group++) {
#pragma omp taskgroup task_reduction(scaled : sum)
    for (int k = 0; k < 10; k++) {
#pragma omp target nowait in_reduction(scaled : sum)
      sum += 3;
    }
    CHECK_EQ(sum, group * 30);
  }
}

/* Not with GCC: its code combines on the host, and the end of the outer construct overwrites the host's value. */
static void mapped(void) {
#ifdef __clang__
  long sum = 5;
#pragma omp target data map(tofrom : sum)
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int k = 0; k < 10; k++) {
#pragma omp target nowait in_reduction(+ : sum)
      sum += 3;
    }
  }
  CHECK_EQ(sum, 35);
#endif
}

/* A region in the group that takes no part must not hold up the regions that do. */
static void below_others(void) {
  long sum = 0, other = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  {
#pragma omp task if (0) in_reduction(+ : sum) shared(other)
    {
#pragma omp target map(tofrom : other)
      other++;
      for (int k = 0; k < 40; k++) {
#pragma omp target nowait in_reduction(+ : sum)
        sum += 1;
      }
#pragma omp taskwait
    }
#pragma omp task final(1) in_reduction(+ : sum) shared(other)
    {
#pragma omp task in_reduction(+ : sum) shared(other)
      {
#pragma omp target map(tofrom : other)
        other++;
        sum += 100;
      }
    }
#pragma omp target nowait in_reduction(+ : sum)
    sum += 1000;
  }
  CHECK_EQ(sum, 1140);
  CHECK_EQ(other, 2);
}

/* How many of the regions run is not known, where cancellation is on. */
static void cancelled(void) {
  long sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
  for (int i = 0; i < 20; i++) {
#pragma omp target nowait in_reduction(+ : sum)
    sum += 1;
    if (i == 10) {
#pragma omp task
      {
#pragma omp cancel taskgroup
      }
    }
  }
  CHECK_RANGE(sum, 0, 20);
}

int main(int argc, char** argv) {
  long groups = argc > 1 ? atol(argv[1]) : 20;
#pragma omp parallel
#pragma omp single
  {
    for (long group = 0; group < groups; group++) kinds(group);
    in_each_other();
    wide();
    of_length(200);
    by_variable();
    mapped();
    below_others();
    cancelled();
  }
#pragma omp parallel num_threads(4)
  kinds(1000 + omp_get_thread_num());
  return 0;
}
