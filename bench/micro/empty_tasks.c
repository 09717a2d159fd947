/* SPDX-License-Identifier: Apache-2.0
 *
 * What an empty task costs, for each way in which a runtime handles it. A figure is wall time divided by all tasks of
 * the team.
 *
 *   task_undeferred    if(0): the construct itself, nothing may be queued.
 *   task_inline        one thread creates 2^17 tasks, the others stay busy outside the runtime, so the queue fills and
 *                      every later task may run at its creation (libgomp does so above 64 tasks per thread, libomp when
 *                      its queue of 256 is full). The few tasks that fill the queue weigh less than 1 %.
 *   task_one_deferred  one thread creates, the team runs: batches of 32 and a taskwait; so few that no runtime has
 *                      reason to run them at once: each is allocated, queued and found again.
 *   task_all_deferred  the same, all threads create.
 *   task_stolen        one thread creates batches of 32 and waits outside the runtime, so all of them are taken by
 * others. On one thread: a taskwait instead. task_one_flood, task_all_flood  10,000 tasks per taskwait: what a program
 * without a grain size does. The runtime chooses, so this is a mixture; the remark `inlined_FIGURE` tells how many per
 * cent ran at once.
 *
 * Tasks count in thread-local counters (each read by its own thread only, and added up at the end of the region), and
 * count separately the tasks that ran while their thread was creating. The invariant: every task is counted exactly
 * once.
 */
#include "bench.h"

#include <omp.h>
#include <stdatomic.h>

enum { kBatch = 32, kFlood = 10000, kInline = 1 << 17, kRepeat = 64 };

static _Thread_local long tls_ran;
static _Thread_local long tls_ran_at_creation;
static _Thread_local long tls_creating;
static long ran, ran_at_creation, threads;

static inline void empty_body(void) {
  ++tls_ran;
  tls_ran_at_creation += tls_creating;
}

static void create(long tasks) {
  tls_creating = 1;
  for (long i = 0; i < tasks; ++i) {
#pragma omp task
    empty_body();
  }
  tls_creating = 0;
}

static void create_batches(long batches, long size) {
  for (long i = 0; i < batches; ++i) {
    create(size);
#pragma omp taskwait
  }
}

static void start_counting(void) {
  tls_ran = tls_ran_at_creation = 0;
#pragma omp barrier
}

/* Every thread of the team has its own counters, so all must take part, after the last task. */
static void end_counting(void) {
#pragma omp barrier
#pragma omp atomic
  ran += tls_ran;
#pragma omp atomic
  ran_at_creation += tls_ran_at_creation;
}

static void one_creates(long rounds, long size) {
  ran = ran_at_creation = 0;
#pragma omp parallel
  {
    start_counting();
#pragma omp single
    create_batches(rounds, size);
    end_counting();
  }
}

static void all_create(long rounds, long size) {
  ran = ran_at_creation = 0;
#pragma omp parallel
  {
    start_counting();
    create_batches(rounds, size);
    end_counting();
  }
}

static void one_deferred(long rounds) { one_creates(rounds * kRepeat, kBatch); }
static void all_deferred(long rounds) { all_create(rounds * kRepeat, kBatch); }
static void one_flood(long rounds) { one_creates(rounds, kFlood); }
static void all_flood(long rounds) { all_create(rounds, kFlood); }

static void inline_tasks(long rounds) {
  ran = ran_at_creation = 0;
  for (long i = 0; i < rounds; ++i) {
    atomic_int created = 0;
#pragma omp parallel shared(created)
    {
      start_counting();
      if (omp_get_thread_num() == 0) {
        create(kInline);
        atomic_store_explicit(&created, 1, memory_order_release);
      } else {
        while (!atomic_load_explicit(&created, memory_order_acquire)) continue;
      }
      end_counting();
    }
  }
}

static _Alignas(64) atomic_long taken;

static void stolen_body(void) {
  empty_body();
  atomic_fetch_add_explicit(&taken, 1, memory_order_release);
}

static void stolen_batches(long batches) {
  for (long i = 1; i <= batches; ++i) {
    tls_creating = 1;
    for (long j = 0; j < kBatch; ++j) {
#pragma omp task
      stolen_body();
    }
    tls_creating = 0;
    if (threads == 1) {
#pragma omp taskwait
    }
    while (atomic_load_explicit(&taken, memory_order_acquire) < i * kBatch) continue;
  }
}

static void stolen(long rounds) {
  ran = ran_at_creation = 0;
  atomic_store(&taken, 0);
#pragma omp parallel
  {
    start_counting();
    if (omp_get_thread_num() == 0) stolen_batches(rounds * kRepeat);
    end_counting();
  }
}

static void undeferred(long rounds) {
  ran = ran_at_creation = 0;
#pragma omp parallel
  {
    start_counting();
#pragma omp single
    {
      tls_creating = 1;
      for (long i = 0; i < rounds * kFlood; ++i) {
#pragma omp task if (0)
        empty_body();
      }
      tls_creating = 0;
    }
    end_counting();
  }
}

static int check_undeferred(long rounds) { return ran == rounds * kFlood && ran_at_creation == ran; }
static int check_inline(long rounds) { return ran == rounds * kInline; }
static int check_one_deferred(long rounds) { return ran == rounds * kRepeat * kBatch; }
static int check_all_deferred(long rounds) { return ran == threads * rounds * kRepeat * kBatch; }
static int check_stolen(long rounds) { return ran == rounds * kRepeat * kBatch && ran_at_creation == 0; }
static int check_one_flood(long rounds) { return ran == rounds * kFlood; }
static int check_all_flood(long rounds) { return ran == threads * rounds * kFlood; }

int main(int argc, char** argv) {
  bench_init(argc, argv);
  threads = omp_get_max_threads();
  const struct BenchFigure figures[] = {
      {"task_undeferred", "ns", kFlood, undeferred, check_undeferred, NULL},
      {"task_inline", "ns", kInline, inline_tasks, check_inline, NULL},
      {"task_one_deferred", "ns", kRepeat * kBatch, one_deferred, check_one_deferred, NULL},
      {"task_all_deferred", "ns", threads * kRepeat * kBatch, all_deferred, check_all_deferred, NULL},
      {"task_stolen", "ns", kRepeat * kBatch, stolen, check_stolen, NULL},
      {"task_one_flood", "ns", kFlood, one_flood, check_one_flood, NULL},
      {"task_all_flood", "ns", threads * kFlood, all_flood, check_all_flood, NULL},
  };
  int done = 0;
  for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; ++i) {
    if (!bench_figure(&figures[i])) continue;
    printf("# inlined_%s %.1f\n", figures[i].name, 100.0 * (double)ran_at_creation / (double)ran);
    ++done;
  }
  if (!done) bench_fail("no figure is called %s", bench_options.only);
  return 0;
}
