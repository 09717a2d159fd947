/* SPDX-License-Identifier: Apache-2.0
 *
 * Counts, reads and prints.
 */
#include "engine/counters.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "marline/marline.h"
#pragma GCC visibility push(default)
#include "marline/marline_mpi.h"
#pragma GCC visibility pop
#include "base/options.h"

bool counters_timing;

/* Any thread may read them at any time; no order among them is promised, so relaxed. Only the poller writes the
 * first two. */
static _Atomic uint64_t polls, hits;
static _Atomic uint64_t resumptions, latency, longest_latency; /* written by tasks */

void counters_start(void) {
  counters_timing = mpi_options()->counters;
  uint64_t none;
  if (counters_timing) marline_tied_waits(&none, &none); /* Marline measures from now on */
}

uint64_t counters_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Called by the only thread that writes the counter: no atomic addition is needed. */
static void add_one(_Atomic uint64_t* counter) {
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

void counters_of_poll(void) { add_one(&polls); }

void counters_of_hit(void) { add_one(&hits); }

void counters_of_resumption(uint64_t seen) {
  if (seen == 0) return;
  const uint64_t late = counters_clock() - seen;
  atomic_fetch_add_explicit(&resumptions, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&latency, late, memory_order_relaxed);
  uint64_t longest = atomic_load_explicit(&longest_latency, memory_order_relaxed);
  while (longest < late && !atomic_compare_exchange_weak_explicit(&longest_latency, &longest, late,
                                                                  memory_order_relaxed, memory_order_relaxed)) {
  }
}

void marline_mpi_counters_read(marline_mpi_counters_t* out, size_t bytes) {
  uint64_t tied_resumptions = 0;
  uint64_t tied_wait = 0;
  if (counters_timing) marline_tied_waits(&tied_resumptions, &tied_wait);
  const marline_mpi_counters_t now = {
      .polls = atomic_load_explicit(&polls, memory_order_relaxed),
      .hits = atomic_load_explicit(&hits, memory_order_relaxed),
      .resumptions = atomic_load_explicit(&resumptions, memory_order_relaxed),
      .latency_ns = atomic_load_explicit(&latency, memory_order_relaxed),
      .longest_latency_ns = atomic_load_explicit(&longest_latency, memory_order_relaxed),
      .tied_resumptions = tied_resumptions,
      .tied_wait_ns = tied_wait,
  };
  memset(out, 0, bytes);
  memcpy(out, &now, bytes < sizeof now ? bytes : sizeof now);
}

void counters_stop(void) {
  if (!counters_timing) return;
  marline_mpi_counters_t now;
  marline_mpi_counters_read(&now, sizeof now);
  const double per_task = now.resumptions > 0 ? 1e-3 / (double)now.resumptions : 0;
  const double per_tied = now.tied_resumptions > 0 ? 1e-3 / (double)now.tied_resumptions : 0;
  char text[1024];
  const int length = snprintf(
      text, sizeof text,
      "marline-mpi: progress, process %d\n%18llu polls\n%18llu calls found complete\n%18llu resumptions of tasks\n"
      "%18.3f us from completion to resumption, on average\n%18.3f us, the longest\n"
      "%18llu resumptions of tied tasks\n%18.3f us that they waited for their thread, on average\n",
      (int)getpid(), (unsigned long long)now.polls, (unsigned long long)now.hits, (unsigned long long)now.resumptions,
      per_task * (double)now.latency_ns, 1e-3 * (double)now.longest_latency_ns,
      (unsigned long long)now.tied_resumptions, per_tied * (double)now.tied_wait_ns);
  if (write(STDERR_FILENO, text, (size_t)length) < 0) return; /* stderr is closed: the text is lost */
}
