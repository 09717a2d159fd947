/* SPDX-License-Identifier: Apache-2.0
 *
 * What recording a trace costs a program with short tasks: tasks that last 1 us or 10 us by the clock, created by one
 * thread (`one_*`) or by every thread (`all_*`). Figure: wall time per task and thread, which without any overhead is
 * the length of the task; a run with the recorder loaded is compared with one without. The team's threads share nothing
 * but the counters that prove that every task ran, one per thread.
 *
 * `floor` is what a task's record costs at the least, by itself and on all threads at once: three readings of the
 * clock (creation, begin, end) and two records of 32 bytes, stored into a window that is appended to a file when it is
 * full. The recorder can come close to it, and cannot be below.
 */
#include "bench.h"

#include <fcntl.h>
#include <omp.h>
#include <stdint.h>
#include <unistd.h>

enum { kTasks = 512, kMostThreads = 256, kWords = 8192, kTaskWords = 8 };

struct Counter {
  _Alignas(kBenchLine) long value;
};

static struct Counter ran[kMostThreads];
static double task_ns;

/* By the clock: the length of a task is then the same in every run, and only what surrounds tasks differs. */
static void spin(void) {
  const double end = bench_now() + task_ns;
  while (bench_now() < end) {
  }
  ++ran[omp_get_thread_num()].value;
}

static void create(long tasks) {
  for (long i = 0; i < tasks; ++i) {
#pragma omp task
    spin();
  }
#pragma omp taskwait
}

static void one_creator(long rounds) {
  memset(ran, 0, sizeof ran);
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds; ++i) create((long)kTasks * omp_get_num_threads());
}

static void all_create(long rounds) {
  memset(ran, 0, sizeof ran);
#pragma omp parallel
  for (long i = 0; i < rounds; ++i) create(kTasks);
}

static int check(long rounds) {
  long sum = 0;
  for (int i = 0; i < kMostThreads; ++i) sum += ran[i].value;
  return sum == rounds * kTasks * omp_get_max_threads();
}

static uint64_t read_cycles(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  uint64_t value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

static int files[kMostThreads]; /* of each thread one without a name, where temporary files lie; 0: not yet made */

static int file_of(int thread) {
  const char* folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
  if (files[thread] == 0) files[thread] = open(folder, O_TMPFILE | O_RDWR, 0600);
  if (files[thread] < 0) bench_fail("no temporary file can be made in %s: %m", folder);
  return files[thread];
}

static void record_by_hand(long rounds) {
  memset(ran, 0, sizeof ran);
#pragma omp parallel
  {
    static _Thread_local uint64_t window[kWords];
    const int thread = omp_get_thread_num(), file = file_of(thread);
    size_t used = 0;
    for (long i = 0; i < rounds * kTasks; ++i) {
      volatile uint64_t* task = window + used;
      for (size_t word = 0; word < kTaskWords; ++word) task[word] = word < 3 ? read_cycles() : (uint64_t)i;
      used += kTaskWords;
      if (used == kWords) {
        if (write(file, window, sizeof window) != sizeof window) bench_fail("a temporary file cannot be written: %m");
        used = 0;
      }
      ++ran[thread].value;
    }
  }
}

/* Each sample writes new blocks, as a recorder does: the files are emptied outside of the timed section. */
static int check_and_empty(long rounds) {
  for (int i = 0; i < kMostThreads; ++i) {
    if (files[i] && (ftruncate(files[i], 0) || lseek(files[i], 0, SEEK_SET)))
      bench_fail("a temporary file cannot be emptied: %m");
  }
  return check(rounds);
}

int main(int argc, char** argv) {
  static const struct {
    struct BenchFigure figure;
    double task_ns;
  } figures[] = {
      {{"one_1us", "ns", kTasks, one_creator, check, NULL}, 1e3},
      {{"one_10us", "ns", kTasks, one_creator, check, NULL}, 1e4},
      {{"all_1us", "ns", kTasks, all_create, check, NULL}, 1e3},
      {{"all_10us", "ns", kTasks, all_create, check, NULL}, 1e4},
  };
  bench_init(argc, argv);
  if (omp_get_max_threads() > kMostThreads) bench_fail("more than %d threads", kMostThreads);
  const struct BenchFigure floor = {"floor", "ns", kTasks, record_by_hand, check_and_empty, NULL};
  int done = bench_figure(&floor);
  for (unsigned i = 0; i < sizeof figures / sizeof figures[0]; ++i) {
    task_ns = figures[i].task_ns;
    done += bench_figure(&figures[i].figure);
  }
  if (!done) bench_fail("no figure is called %s", bench_options.only);
  return 0;
}
