/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks that are ordered well, or not, by name: marline check --dependences judges them.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* GCC 12 does not know inoutset. */
#if defined(__clang__)
#define SET(object) depend(inoutset : object)
#else
#define SET(object) depend(mutexinoutset : object)
#endif

enum { kSize = 64, kTile = 8 };
static double x[kSize], total;
double copied[kSize];
static int flag, counter;

static void fill(double* tile) {
  for (int i = 0; i < kTile; ++i) tile[i] = i; /* here: fill */
}

static double sum(const double* tile) {
  double result = 0;
  for (int i = 0; i < kTile; ++i) result += tile[i]; /* here: sum */
  return result;
}

static void tiles_right(void) {
  for (int i = 0; i < kSize; i += kTile) {
#pragma omp task depend(out : x[i])
    fill(&x[i]);
#pragma omp task depend(in : x[i]) depend(inout : total)
    total += sum(&x[i]);
  }
}

static void missing_in(void) {
  for (int i = 0; i < kSize; i += kTile) {
#pragma omp task depend(out : x[i])
    fill(&x[i]);
#pragma omp task depend(inout : total) /* here: reader */
    total += sum(&x[i]);
  }
}

static void reader_writes(void) {
#pragma omp task depend(in : flag) /* here: says in */
  flag = 1;
#pragma omp task depend(in : flag)
  counter = flag;
}

static void halo(void) {
  for (int i = 0; i < kSize; i += kTile) {
#pragma omp task depend(inout : x[i])
    {
      fill(&x[i]);
      if (i > 0) x[i] += x[i - 1]; /* here: halo */
    }
  }
}

static void halo_right(void) {
  for (int i = 0; i < kSize; i += kTile) {
    const int left = i > 0 ? i - kTile : i;
#pragma omp task depend(inout : x[i]) depend(in : x[left])
    {
      fill(&x[i]);
      if (i > 0) x[i] += x[i - 1];
    }
  }
}

static void copy_missing(void) {
  const size_t bytes = (size_t)omp_get_num_procs() * sizeof *copied; /* not known to the compiler */
#pragma omp task depend(out : x)
  memset(x, 0, bytes < sizeof x ? bytes : sizeof x);
#pragma omp task
  {
    memcpy(copied, x, bytes < sizeof x ? bytes : sizeof x);
    total = sum(copied);
  }
}

static void no_wait(void) {
#pragma omp task
  flag = 1;
  counter = flag; /* here: too soon */
}

static void wait_right(void) {
#pragma omp task
  flag = 1;
#pragma omp taskwait
  counter = flag;
}

static void wait_for_grandchild(void) {
#pragma omp task
  {
#pragma omp task
    flag = 1;
  }
#pragma omp taskwait
  counter = flag;
}

static void group_right(void) {
#pragma omp taskgroup
  {
#pragma omp task
    {
#pragma omp task
      flag = 1;
    }
  }
  counter = flag;
}

static void freed(void) {
  double* block = malloc(kTile * sizeof *block);
#pragma omp task firstprivate(block)
  fill(block);
  free(block); /* here: freed */
}

static void heap_right(void) {
  for (int i = 0; i < 100; ++i) {
#pragma omp task
    {
      double* block = malloc(kTile * sizeof *block);
      fill(block);
      free(block);
    }
  }
}

static void stack_right(void) {
  for (int i = 0; i < 100; ++i) {
#pragma omp task firstprivate(i)
    {
      double local[kTile];
      fill(local);
#pragma omp task shared(local) depend(inout : local)
      local[0] += i;
#pragma omp task shared(local) depend(inout : local)
      local[0] += sum(local);
#pragma omp taskwait
    }
  }
}

static void reduction_by_luck(void) {
  for (int i = 0; i < 4; ++i) {
#pragma omp task
    counter += 1; /* here: counts */
  }
}

static void atomic_right(void) {
  for (int i = 0; i < 4; ++i) {
#pragma omp task
    {
#pragma omp atomic
      counter += 1;
    }
  }
}

static void critical_right(void) {
  for (int i = 0; i < 4; ++i) {
#pragma omp task
    {
#pragma omp critical
      counter += 1;
    }
  }
}

static void commutative_right(void) {
#pragma omp task depend(out : counter)
  counter = 0;
  for (int i = 0; i < 4; ++i) {
#pragma omp task depend(mutexinoutset : counter)
    counter += 1;
  }
#pragma omp task depend(in : counter)
  flag = counter;
}

static void set_right(void) {
#pragma omp task depend(out : x)
  memset(x, 0, sizeof x);
  for (int i = 0; i < kSize; i += kTile) {
#pragma omp task SET(x)
    fill(&x[i]);
  }
#pragma omp task depend(in : x)
  total = sum(x);
}

static void strides_right(void) {
  for (int i = 0; i < 2; ++i) {
#pragma omp task
    for (int k = i; k < kSize; k += 2) x[k] = k;
  }
}

static void undeferred_right(void) {
#pragma omp task if (0)
  flag = 1;
  counter = flag;
}

static void wait_on_one_right(void) {
#pragma omp task depend(out : flag)
  flag = 1;
#pragma omp task depend(out : counter)
  counter = 1;
#pragma omp taskwait depend(in : flag)
  total = flag;
}

static void wait_on_other(void) {
#pragma omp task depend(out : flag)
  flag = 1;
#pragma omp task depend(out : counter)
  counter = 1;
#pragma omp taskwait depend(in : flag)
  total = counter; /* here: other */
}

static void detach_right(void) {
  omp_event_handle_t event;
#pragma omp task detach(event) depend(out : flag)
  flag = 1;
#pragma omp task firstprivate(event)
  {
    counter = 1;
    omp_fulfill_event(event);
  }
#pragma omp task depend(in : flag)
  total = flag + counter;
}

static void loop_right(void) {
#pragma omp taskloop grainsize(4)
  for (int i = 0; i < kSize; ++i) x[i] = i;
  total = sum(x);
}

/* The child ends in order, and leaves the record of its parent alone. */
static void missing_after_fork(void) {
  atomic_right();
  fflush(stdout);
  if (fork() == 0) exit(0);
  wait(NULL);
  missing_in();
}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {CASE(tiles_right),         CASE(missing_in),        CASE(reader_writes), CASE(halo),
             CASE(halo_right),          CASE(copy_missing),      CASE(no_wait),       CASE(wait_right),
             CASE(wait_for_grandchild), CASE(group_right),       CASE(freed),         CASE(heap_right),
             CASE(stack_right),         CASE(reduction_by_luck), CASE(atomic_right),  CASE(critical_right),
             CASE(commutative_right),   CASE(set_right),         CASE(strides_right), CASE(undeferred_right),
             CASE(wait_on_one_right),   CASE(wait_on_other),     CASE(detach_right),  CASE(loop_right),
             CASE(missing_after_fork)};

static double regions_right(void) {
  double result = 0;
#pragma omp parallel reduction(+ : result)
  {
#pragma omp for
    for (int i = 0; i < kSize; ++i) x[i] = i;
#pragma omp for
    for (int i = 0; i < kSize; ++i) result += x[kSize - 1 - i];
  }
  return result;
}

int main(int count, char** words) {
  const char* name = count > 1 ? words[1] : "";
  if (strcmp(name, "regions_right") == 0) printf("%g\n", regions_right());
#pragma omp parallel
#pragma omp single
  for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (strcmp(name, cases[i].name) == 0) cases[i].run();
  }
  puts("done");
}
