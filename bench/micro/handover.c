/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine's cache-line hand-over time, h: two threads, bound to two processors, count one word up in turns, and h
 * is the time from one increment to the next. All communication between a runtime's threads consists of such
 * hand-overs, so goals are stated in h. Plain pthreads: no OpenMP runtime takes part. The invariant: the word is even
 * when it is the main thread's turn and odd when it is the partner's; no other thread writes it.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { kTurns = 20000 };

struct Line {
  _Alignas(2 * kBenchLine) atomic_long word;
  _Alignas(2 * kBenchLine) long turns;
};

static struct Line line;
static int processors[2];

static cpu_set_t only(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return set;
}

static void bind_main_thread(void) {
  cpu_set_t set = only(processors[0]);
  int error = pthread_setaffinity_np(pthread_self(), sizeof set, &set);
  if (error) bench_fail("cannot bind a thread to processor %d: %s", processors[0], strerror(error));
}

static void find_processors(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set)) bench_fail("cannot read the affinity mask");
  int found = 0;
  for (int i = 0; i < CPU_SETSIZE && found < 2; ++i)
    if (CPU_ISSET(i, &set)) processors[found++] = i;
  if (found < 2) bench_fail("a hand-over needs two processors, this process may use %d", found);
}

static void take_turns(long first, long end) {
  for (long turn = first; turn < end; turn += 2) {
    while (atomic_load_explicit(&line.word, memory_order_acquire) != turn) continue;
    atomic_store_explicit(&line.word, turn + 1, memory_order_release);
  }
}

static void* partner(void* unused) {
  (void)unused;
  take_turns(1, line.turns);
  return NULL;
}

/* The partner is bound before it starts: it would inherit the main thread's processor, and wait for a time slice. */
static pthread_t start_partner(void) {
  cpu_set_t set = only(processors[1]);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, partner, NULL);
  if (error) bench_fail("cannot start a thread on processor %d: %s", processors[1], strerror(error));
  pthread_attr_destroy(&attributes);
  return thread;
}

static void hand_over(long rounds) {
  atomic_store(&line.word, 0);
  line.turns = rounds * kTurns;
  pthread_t thread = start_partner();
  take_turns(0, line.turns);
  pthread_join(thread, NULL);
}

static int check(long rounds) { return atomic_load(&line.word) == rounds * kTurns; }

/* The least of the samples, not their median: h is a property of the machine, and other load only adds to it. */
int main(int argc, char** argv) {
  static const struct BenchFigure figure = {"handover", "ns", kTurns, hand_over, check, NULL};
  bench_init(argc, argv);
  find_processors();
  bind_main_thread();
  long rounds = bench_calibrate(&figure);
  double least = bench_time(&figure, rounds);
  for (int i = 1; i < kBenchSamples; ++i) {
    double sample = bench_time(&figure, rounds);
    if (sample < least) least = sample;
  }
  bench_say(figure.name, least / ((double)rounds * kTurns), figure.unit);
  return 0;
}
