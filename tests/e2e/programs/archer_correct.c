/* SPDX-License-Identifier: Apache-2.0
 *
 * Correct programs, one per construct: ThreadSanitizer with LLVM's Archer must have nothing to say. Tasks suspend and,
 * if untied, go on on other threads. Ends with "done" and the number of constructs; a wrong result ends with status 1.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "marline/marline.h"

enum { kTasks = 300 };
static int failures;

static void expect(const char* what, long seen, long wanted) {
  if (seen == wanted) return;
  printf("%s: %ld instead of %ld\n", what, seen, wanted);
  ++failures;
}

static void dependences(void) {
  int x[8] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task depend(inout : x[i % 8])
      x[i % 8] += i;
    }
    for (int i = 0; i < 8; ++i) {
#pragma omp task depend(in : x[i]) depend(mutexinoutset : sum)
      sum += x[i];
    }
#pragma omp taskwait depend(in : sum)
    expect("dependences", sum, kTasks * (kTasks - 1) / 2);
  }
}

/* More tasks than descriptors are made for: a task's private data is memory that another task had before. */
static void private_data(void) {
  static int out[20000];
  long sum = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 20000; ++i) {
    int own[6] = {i, i + 1};
#pragma omp task firstprivate(own) shared(out)
    {
      own[0] += own[1];
      out[i] = own[0];
    }
  }
  for (int i = 0; i < 20000; ++i) sum += out[i];
  expect("private data", sum, 20000L * 20000);
}

static int fibonacci(int n) {
  int a, b;
  if (n < 2) return n;
#pragma omp task shared(a) untied
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void waits(void) {
  int seen = 0, many[kTasks] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    seen = fibonacci(12);
#pragma omp taskgroup
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task
      {
#pragma omp task
        many[i] = i;
      }
    }
    for (int i = 0; i < kTasks; ++i) sum += many[i];
  }
  expect("taskwait", seen, 144);
  expect("taskgroup", sum, kTasks * (kTasks - 1) / 2);
}

static void mutual_exclusion(void) {
  int critical = 0, locked = 0, nested = 0, atomic = 0, ordered = 0;
  omp_lock_t lock;
  omp_nest_lock_t nest_lock;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
#pragma omp parallel
#pragma omp for ordered schedule(dynamic)
  for (int i = 0; i < kTasks; ++i) {
#pragma omp critical
    ++critical;
    omp_set_lock(&lock);
    ++locked;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest_lock);
    omp_set_nest_lock(&nest_lock);
    ++nested;
    omp_unset_nest_lock(&nest_lock);
    omp_unset_nest_lock(&nest_lock);
#pragma omp atomic
    ++atomic;
#pragma omp ordered
    ordered = ordered == i ? i + 1 : -1;
  }
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest_lock);
  expect("critical", critical, kTasks);
  expect("lock", locked, kTasks);
  expect("nest lock", nested, kTasks);
  expect("atomic", atomic, kTasks);
  expect("ordered", ordered, kTasks);
}

static void worksharing(void) {
  int a[1000], sum = 0, once = 0, two[2] = {0, 0}, given = 0, wrong = 0;
#pragma omp parallel private(given)
  {
#pragma omp for
    for (int i = 0; i < 1000; ++i) a[i] = i;
#pragma omp for reduction(+ : sum) schedule(guided)
    for (int i = 0; i < 1000; ++i) sum += a[999 - i];
#pragma omp single
    once += sum;
#pragma omp sections
    {
#pragma omp section
      two[0] = once;
#pragma omp section
      two[1] = once;
    }
#pragma omp single copyprivate(given)
    given = two[0] + two[1];
    if (given != 2 * 499500) {
#pragma omp atomic
      ++wrong;
    }
  }
  expect("worksharing", two[0] + two[1], 2 * 499500);
  expect("copyprivate", wrong, 0);
}

static void reductions_of_tasks(void) {
  long sum = 0, loop = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task in_reduction(+ : sum)
      sum += i;
    }
#pragma omp taskloop reduction(+ : loop) grainsize(10)
    for (int i = 0; i < kTasks; ++i) loop += i;
  }
  expect("task reduction", sum, kTasks * (kTasks - 1) / 2);
  expect("taskloop", loop, kTasks * (kTasks - 1) / 2);
}

static void nested_regions(void) {
  int of[4][4] = {{0}}, sum = 0;
#pragma omp parallel num_threads(2)
  {
    int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
    {
      of[outer][omp_get_thread_num()] = 1;
#pragma omp barrier
#pragma omp single
#pragma omp task
      of[outer][3] = of[outer][0] + of[outer][1];
    }
#pragma omp atomic
    sum += of[outer][3];
  }
  expect("nested regions", sum, 4);
}

/* Tied tasks that suspend: one thread's share nothing but that thread. */
static void thread_private(void) {
  int of[64] = {0}, sum = 0, turn[kTasks] = {0};
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task
      {
        ++of[omp_get_thread_num()];
#pragma omp task
        ++of[omp_get_thread_num()];
#pragma omp taskyield
#pragma omp taskwait
        ++of[omp_get_thread_num()];
        turn[i] = 1;
      }
    }
#pragma omp barrier
  }
  for (int i = 0; i < 64; ++i) sum += of[i];
  expect("threadprivate", sum, 3 * kTasks);
  for (int i = sum = 0; i < kTasks; ++i) sum += turn[i];
  expect("turns", sum, kTasks);
}

/* Untied tasks that yield in between, and go on where a thread is free: until one has moved. */
static void migration(void) {
  static int chain[kTasks], moved;
  for (int round = 0; round < 100 && (round == 0 || (moved == 0 && omp_get_max_threads() > 1)); ++round) {
    long sum = 0;
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task untied depend(inout : chain[i % 10]) shared(sum)
      {
        int thread = omp_get_thread_num();
        chain[i % 10] += i;
#pragma omp taskyield
        chain[i % 10] += 1;
#pragma omp critical
        sum += i;
#pragma omp taskyield
        if (thread != omp_get_thread_num()) {
#pragma omp atomic
          ++moved;
        }
      }
    }
    expect("migration", sum, kTasks * (kTasks - 1) / 2);
  }
  if (omp_get_max_threads() > 1) expect("tasks that moved", moved > 0, 1);
}

/* A task waits for an event; who fulfils it has written what it reads then. */
static void events(void) {
  static marline_event_t event[kTasks];
  static int message[kTasks];
  long sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < kTasks; ++i) {
      marline_event_init(&event[i]);
#pragma omp task untied shared(sum)
      {
        marline_event_wait(&event[i]);
#pragma omp atomic
        sum += message[i];
      }
    }
    for (int i = 0; i < kTasks; ++i) {
#pragma omp task
      {
        message[i] = i;
        marline_event_fulfill(&event[i]);
      }
    }
  }
  expect("events", sum, kTasks * (kTasks - 1) / 2);
}

static void detached(void) {
  omp_event_handle_t handle[10];
  int value[10] = {0}, sum = 0;
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 10; ++i) {
      omp_event_handle_t one;
#pragma omp task detach(one) depend(out : value[i])
      value[i] = i;
      handle[i] = one;
#pragma omp task depend(in : value[i]) shared(sum)
      {
#pragma omp atomic
        sum += value[i];
      }
    }
    for (int i = 0; i < 10; ++i) omp_fulfill_event(handle[i]);
  }
  expect("detach", sum, 45);
}

/* Each iteration is ordered after the one before. */
static void doacross(void) {
  static int a[200], grid[40][40];
#pragma omp parallel for ordered(1) schedule(static, 1)
  for (int i = 1; i < 200; ++i) {
#pragma omp ordered depend(sink : i - 1)
    a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
  }
  expect("doacross", a[199], 199);
#pragma omp parallel for ordered(2) schedule(dynamic)
  for (int i = 1; i < 40; ++i) {
    for (int j = 1; j < 40; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grid[i][j] = (grid[i - 1][j] > grid[i][j - 1] ? grid[i - 1][j] : grid[i][j - 1]) + 1;
#pragma omp ordered depend(source)
    }
  }
  expect("doacross in two dimensions", grid[39][39], 77);
}

/* Only the graph waits for these tasks. An iteration begins when the last but one has ended, so it may write what the
 * tasks of that iteration have read, their private data included. */
static void graph_without_barrier(void) {
  enum { kIterations = 12, kReaders = 20 };
  static int input[2][kReaders];
  int sum = 0;
#pragma omp parallel
#pragma omp single
  {
    marline_graph_t* graph = marline_graph_begin(MARLINE_GRAPH_NOWAIT);
    for (int k = 0; k < kIterations; ++k) {
      marline_graph_iterate(graph);
      for (int i = 0; i < kReaders; ++i) {
        input[k % 2][i] = i;
#pragma omp task firstprivate(k, i) shared(sum)
        {
#pragma omp atomic
          sum += k + input[k % 2][i];
        }
      }
    }
    marline_graph_end(graph);
  }
  expect("a persistent graph without barrier", sum,
         kReaders * kIterations * (kIterations - 1) / 2 + kIterations * kReaders * (kReaders - 1) / 2);
}

static void (*const kConstructs[])(void) = {
    dependences,    private_data, waits,  mutual_exclusion, worksharing, reductions_of_tasks,  nested_regions,
    thread_private, migration,    events, detached,         doacross,    graph_without_barrier};

int main(int argc, char** argv) {
  int count = sizeof kConstructs / sizeof *kConstructs;
  int only = argc > 1 ? atoi(argv[1]) : -1;
  omp_set_max_active_levels(2);
  for (int i = 0; i < count; ++i) {
    if (only < 0 || only == i) kConstructs[i]();
  }
  printf("done %d\n", count);
  return failures != 0;
}
