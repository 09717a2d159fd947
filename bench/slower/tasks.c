/* SPDX-License-Identifier: Apache-2.0
 *
 * libslower-tasks.so: tasks of chosen constructs take FACTOR times as long, in programs of Clang, on any runtime that
 * has libomp's interface. After the task's code a thread waits, busily, for the rest. SLOWER_TASKS=FACTOR:K,K,... names
 * the constructs by the order in which the process first creates a task of each, from 1. Not for tasks that are
 * suspended: what they wait for would count. To be loaded in front of the runtime. Any thread; the table of constructs
 * only grows, and an entry never changes.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMost = 64 };

typedef int Entry(int thread, void* task);
typedef void* Allocate(void* location, int thread, int flags, size_t size, size_t shared_size, Entry* entry);

static Entry* _Atomic g_entry[kMost];
static bool g_is_slower[kMost];
static double g_more; /* of a task's own time, to wait */
static Allocate* g_allocate;

static void refuse(const char* text) {
  fprintf(stderr, "SLOWER_TASKS=%s is no FACTOR:K,K,... with a factor from 1 to 1000 and numbers from 1 to %d\n", text,
          (int)kMost);
  exit(2);
}

__attribute__((constructor)) static void read_choice(void) {
  const char* text = getenv("SLOWER_TASKS");
  if (text == NULL) return;
  char* end;
  const double factor = strtod(text, &end);
  if (end == text || *end != ':' || !(factor >= 1 && factor <= 1000)) refuse(text);
  g_more = factor - 1;
  do {
    const char* number = end + 1;
    const long at = strtol(number, &end, 10);
    if (end == number || at < 1 || at > kMost) refuse(text);
    g_is_slower[at - 1] = true;
  } while (*end == ',');
  if (*end != '\0') refuse(text);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int run_slower(int number, int thread, void* task) {
  const double begin = seconds();
  const int result = g_entry[number](thread, task);
  const double end = seconds();
  while (seconds() < end + g_more * (end - begin)) {
  }
  return result;
}

/* A function per construct, as a task has room for one address only. The numbers are octal. */
#define ONE(n) \
  static int run_##n(int thread, void* task) { return run_slower(n, thread, task); }
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) static Entry run_##n##0
EIGHT(0);
EIGHT(01);
EIGHT(02);
EIGHT(03);
EIGHT(04);
EIGHT(05);
EIGHT(06);
EIGHT(07);
#define NAMES(n) run_##n##0, run_##n##1, run_##n##2, run_##n##3, run_##n##4, run_##n##5, run_##n##6, run_##n##7
static Entry* const kRun[kMost] = {NAMES(0),  NAMES(01), NAMES(02), NAMES(03),
                                   NAMES(04), NAMES(05), NAMES(06), NAMES(07)};

/* The number of the construct, which may be new; kMost if there is no room. */
static int number_of(Entry* entry) {
  for (int at = 0; at < kMost; ++at) {
    Entry* known = atomic_load(&g_entry[at]);
    if (known == NULL && atomic_compare_exchange_strong(&g_entry[at], &known, entry)) return at;
    if (known == entry) return at;
  }
  return kMost;
}

void* __kmpc_omp_task_alloc(void* location, int thread, int flags, size_t size, size_t shared_size, Entry* entry) {
  if (g_allocate == NULL) g_allocate = (Allocate*)dlsym(RTLD_NEXT, "__kmpc_omp_task_alloc"); /* the same for all */
  if (g_allocate == NULL) {
    fputs("libslower-tasks.so: no library behind it has __kmpc_omp_task_alloc\n", stderr);
    exit(2);
  }
  const int number = number_of(entry);
  const bool is_slower = number < kMost && g_is_slower[number];
  return g_allocate(location, thread, flags, size, shared_size, is_slower ? kRun[number] : entry);
}
