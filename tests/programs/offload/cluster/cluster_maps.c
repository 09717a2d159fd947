/* SPDX-License-Identifier: Apache-2.0
 *
 * A random sequence of deferred constructs that map arrays, and map them again, and take them away, with regions and
 * host tasks in between. Constructs that use an array are ordered by it: a construct that changes the array comes after
 * all earlier uses, and a reader comes after the last change. So the reference counts are the same as in the order of
 * creation, in which a model computes them.
 *
 *   SEED [TASKS [BYTES]]     arrays have less than that many bytes: 3000
 *
 * Covers: target enter data(map:to, map:alloc, nowait, depend), target exit data(map:from, map:release, map:delete,
 * nowait, depend), target(nowait, depend, map:to, map:tofrom), task(depend:inout)
 */
#include "../device.h"

#include <stdlib.h>
#include <string.h>

enum { kArrays = 6, kReaders = 4 };

typedef enum { kEnter, kAlloc, kExit, kRelease, kDelete, kHost, kRead, kChange, kChangeTwo } Kind;

typedef struct {
  Kind kind;
  int v, w; /* w: another array, or where a reader leaves what it has found */
  unsigned salt;
} Step;

static unsigned long long g_state;
static int g_sizes[kArrays];
static unsigned char *g_arrays[kArrays], *g_device[kArrays], *g_host[kArrays]; /* the program's; what must come out */
static int g_counts[kArrays];
static unsigned *g_found, *g_expected; /* by step */

static unsigned draw(unsigned below) {
  g_state = g_state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(g_state >> 33) % below;
}

#pragma omp declare target
static unsigned hash_of(const unsigned char* a, int n, unsigned salt) {
  unsigned hash = salt;
  for (int i = 0; i < n; i++) hash = (hash ^ a[i]) * 16777619u;
  return hash;
}

static void fill(unsigned char* a, int n, unsigned salt) {
  for (int i = 0; i < n; i++) a[i] = (unsigned char)((salt = salt * 1664525u + 1013904223u) >> 24);
}

static void change(unsigned char* a, int n, unsigned salt) {
  for (int i = 0; i < n; i++)
    if (((salt = salt * 1664525u + 1013904223u) >> 30) != 0) a[i] = (unsigned char)(a[i] + (salt >> 20));
}
#pragma omp end declare target

/* The model ------------------------------------------------------------------------------------------------------- */

static void enter(int v, int copies) {
  if (g_counts[v]++ == 0 && copies) memcpy(g_device[v], g_host[v], (size_t)g_sizes[v]);
}

static void leave(int v, int copies) {
  if (g_counts[v] != 0 && --g_counts[v] == 0 && copies) memcpy(g_host[v], g_device[v], (size_t)g_sizes[v]);
}

static void refer(const Step* step, int i) {
  int v = step->v, w = step->w;
  switch (step->kind) {
    case kEnter: enter(v, 1); break;
    case kAlloc:
      enter(v, 0);
      fill(g_device[v], g_sizes[v], step->salt);
      break;
    case kExit: leave(v, 1); break;
    case kRelease: leave(v, 0); break;
    case kDelete: g_counts[v] = 0; break;
    case kHost: change(g_host[v], g_sizes[v], step->salt); break;
    case kRead:
      enter(v, 1);
      g_expected[i] = hash_of(g_device[v], g_sizes[v], step->salt);
      leave(v, 0);
      break;
    case kChange:
      enter(v, 1);
      change(g_device[v], g_sizes[v], step->salt);
      leave(v, 1);
      break;
    case kChangeTwo:
      enter(v, 1), enter(w, 1);
      change(g_device[v], g_sizes[v], hash_of(g_device[w], g_sizes[w], step->salt));
      leave(v, 1), leave(w, 0);
      break;
  }
}

/* The program ----------------------------------------------------------------------------------------------------- */

static void create(const Step* step, int i, int steps) {
  int v = step->v, w = step->w, n = g_sizes[v], m = g_sizes[w];
  unsigned char *a = g_arrays[v], *b = g_arrays[w];
  unsigned salt = step->salt, *found = g_found;
  (void)n, (void)m, (void)b, (void)found, (void)steps; /* GCC does not count uses in a map */
  switch (step->kind) {
    case kEnter: {
#pragma omp target enter data map(to : a[0 : n]) depend(inout : a[0]) nowait
      break;
    }
    case kAlloc: { /* the region gives it a value */
#pragma omp target enter data map(alloc : a[0 : n]) depend(inout : a[0]) nowait
#pragma omp target map(alloc : a[0 : n]) depend(inout : a[0]) nowait
      fill(a, n, salt);
      break;
    }
    case kExit: {
#pragma omp target exit data map(from : a[0 : n]) depend(inout : a[0]) nowait
      break;
    }
    case kRelease: {
#pragma omp target exit data map(release : a[0 : n]) depend(inout : a[0]) nowait
      break;
    }
    case kDelete: {
#pragma omp target exit data map(delete : a[0 : n]) depend(inout : a[0]) nowait
      break;
    }
    case kHost: {
#pragma omp task depend(inout : a[0]) firstprivate(a, n, salt)
      change(a, n, salt);
      break;
    }
    case kRead: {
#pragma omp target map(to : a[0 : n]) map(tofrom : found[0 : steps]) depend(in : a[0]) nowait
      found[i] = hash_of(a, n, salt);
      break;
    }
    case kChange: {
#pragma omp target map(tofrom : a[0 : n]) depend(inout : a[0]) nowait
      change(a, n, salt);
      break;
    }
    case kChangeTwo: {
#pragma omp target map(tofrom : a[0 : n]) map(to : b[0 : m]) depend(inout : a[0]) depend(in : b[0]) nowait
      change(a, n, hash_of(b, m, salt));
      break;
    }
  }
}

/* Readers of an array that is not there for another reason share one mapping, or have one each: that is the same, as
 * they change nothing. What is mapped is drawn more often than what is not. */
static Step draw_step(void) {
  Step step = {(Kind)draw(9), (int)draw(kArrays), 0, draw(1u << 30)};
  if (step.kind == kChangeTwo || draw(3) == 0) step.kind = draw(2) ? kChange : kChangeTwo;
  if (g_counts[step.v] == 0 && (step.kind == kExit || step.kind == kRelease || step.kind == kDelete) && draw(4) != 0)
    step.kind = kEnter;
  if (g_counts[step.v] > 2 && step.kind == kEnter) step.kind = kExit;
  step.w = (step.v + 1 + (int)draw(kArrays - 1)) % kArrays;
  return step;
}

static void begin_arrays(int most) {
  for (int v = 0; v < kArrays; v++) {
    int n = g_sizes[v] = 8 + (int)draw((unsigned)most - 8);
    g_arrays[v] = malloc((size_t)n), g_host[v] = malloc((size_t)n);
    g_device[v] = own_copies() ? malloc((size_t)n) : g_host[v];
    fill(g_arrays[v], n, (unsigned)v);
    memcpy(g_host[v], g_arrays[v], (size_t)n);
  }
}

static void end_arrays(void) {
  for (int v = 0; v < kArrays; v++) {
    unsigned char* a = g_arrays[v];
    int n = g_sizes[v];
    CHECK_PRESENT(a, g_counts[v] != 0);
    CHECK(memcmp(a, g_host[v], (size_t)n) == 0);
    if (g_counts[v] != 0) {
#pragma omp target update from(a[0 : n])
      CHECK(memcmp(a, g_device[v], (size_t)n) == 0);
#pragma omp target exit data map(delete : a[0 : n])
    }
    CHECK_PRESENT(a, 0);
    if (own_copies()) free(g_device[v]);
    free(g_arrays[v]), free(g_host[v]);
  }
}

int main(int count, char** words) {
  g_state = (unsigned long long)(count > 1 ? atoi(words[1]) : 1) * 0x9e3779b97f4a7c15ULL + 1;
  int steps = count > 2 ? atoi(words[2]) : 300;
  g_found = calloc((size_t)steps, sizeof *g_found), g_expected = calloc((size_t)steps, sizeof *g_expected);
  unsigned* found = g_found;
  begin_arrays(count > 3 ? atoi(words[3]) : 3000);
#pragma omp target enter data map(to : found[0 : steps])
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < steps; i++) {
    Step step = draw_step();
    refer(&step, i);
    create(&step, i, steps);
  }
#pragma omp target exit data map(from : found[0 : steps])
  for (int i = 0; i < steps; i++) CHECK_EQ(found[i], g_expected[i]);
  end_arrays();
  free(g_found), free(g_expected);
  return 0;
}
