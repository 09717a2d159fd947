/* SPDX-License-Identifier: Apache-2.0
 *
 * Incorrect programs, one per argument: each lacks the one thing that would order two accesses to `shared`. The two
 * meet on different threads, by signals that ThreadSanitizer does not see, or in tasks that are suspended. Ends with
 * "done".
 */
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "marline/marline.h"

static int shared;
static volatile int signals;

__attribute__((no_sanitize("thread"))) static void signal_other(void) { __sync_fetch_and_add(&signals, 1); }
__attribute__((no_sanitize("thread"))) static void wait_for_signals(int count) {
  while (signals < count) {
  }
}

/* The reader has no dependence on the writer. */
static void dependence(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp task depend(out : shared)
    {
      shared = 1;
      signal_other();
      wait_for_signals(2);
    }
#pragma omp task
    {
      wait_for_signals(1);
      ++shared;
      signal_other();
    }
  }
}

static void taskwait(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp task
    {
      ++shared;
      signal_other();
    }
    wait_for_signals(1);
    ++shared;
  }
}

/* A taskgroup that the task is not in. */
static void taskgroup(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
  {
#pragma omp task
    {
      ++shared;
      signal_other();
      wait_for_signals(2);
    }
    wait_for_signals(1);
#pragma omp taskgroup
    {
#pragma omp task
      {
      }
    }
    ++shared;
    signal_other();
  }
}

static void critical(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
#pragma omp critical
      ++shared;
      signal_other();
    } else {
      wait_for_signals(1);
      ++shared;
    }
  }
}

static void loop(void) {
#pragma omp parallel for num_threads(2) schedule(static, 1)
  for (int i = 0; i < 100; ++i) shared += i;
}

static void nowait(void) {
#pragma omp parallel num_threads(2)
  {
#pragma omp single nowait
    {
      ++shared;
      signal_other();
    }
    wait_for_signals(1);
    if (shared == 7) puts("7");
  }
}

/* The variable's first value may be written after the sum. */
static void reduction(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      shared = 0;
      signal_other();
    } else {
      wait_for_signals(1);
    }
#pragma omp for reduction(+ : shared) schedule(static, 1) nowait
    for (int i = 0; i < 2; ++i) shared += i;
  }
}

/* The iteration waits for the one before the last only. */
static void sink(void) {
  static int a[200];
#pragma omp parallel for num_threads(2) ordered(1) schedule(static, 1)
  for (int i = 2; i < 200; ++i) {
#pragma omp ordered depend(sink : i - 2)
    a[i] = a[i - 1] + 1;
#pragma omp ordered depend(source)
  }
}

/* Untied tasks of one thread: one is suspended, the other runs meanwhile. The event orders what follows the wait, not
 * what was before it. */
static void suspended(void) {
  marline_event_t event;
  marline_event_init(&event);
#pragma omp parallel num_threads(1)
#pragma omp single
  {
#pragma omp task untied
    {
      marline_event_wait(&event);
      ++shared;
    }
#pragma omp task untied depend(out : shared)
    {
      marline_event_fulfill(&event);
      ++shared;
    }
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } kRaces[] = {{"dependence", dependence}, {"taskwait", taskwait},   {"taskgroup", taskgroup},
                {"critical", critical},     {"loop", loop},           {"nowait", nowait},
                {"suspended", suspended},   {"reduction", reduction}, {"sink", sink}};
  for (size_t i = 0; i < sizeof kRaces / sizeof *kRaces; ++i) {
    if (argc > 1 && strcmp(argv[1], kRaces[i].name) == 0) kRaces[i].run();
  }
  puts("done");
  return 0;
}
