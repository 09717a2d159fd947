/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent graphs of target regions that workers repeat by themselves: a stencil, and random iterations, in all
 * modes, against the same steps by one thread. Each iteration has other firstprivate data, but where the code does not
 * run again. Some iterations differ: one region more, or one less, or others for good; some have a host task, a wait or
 * an update in the middle; in some loops the data is used between iterations; and other threads use the same cluster
 * meanwhile.
 *
 * Arguments: SEED ROUNDS.
 *
 * Covers: target(nowait, depend, map:tofrom, map:to, firstprivate), target enter data(map:to),
 *   target exit data(map:from), target update(from, to)
 */
#include "../device.h"

#include <marline/marline.h>
#include <stdint.h>
#include <stdlib.h>

enum { kBlocks = 8, kBlock = 64, kAll = (kBlocks + 2) * kBlock, kSweeps = 24, kModulus = 1000003 };

static const int kModes[] = {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY};

static void stencil(int mode) {
  static long now[kAll], next[kAll], expected[kAll], other[kAll];
  for (int i = 0; i < kAll; i++) now[i] = next[i] = expected[i] = other[i] = i;
#pragma omp target enter data map(to : now, next)
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kSweeps, ++it, mode) {
    for (int half = 0; half < 2; half++) {
      long *in = half ? next : now, *out = half ? now : next, add = it + half;
      for (int b = 1; b <= kBlocks; b++) {
        long *from = in + (b - 1) * kBlock, *to = out + b * kBlock;
#pragma omp target nowait depend(in : in[(b - 1) * kBlock], in[b * kBlock], in[(b + 1) * kBlock]) depend(out : to[0]) \
    map(to : from[0 : 3 * kBlock]) map(tofrom : to[0 : kBlock]) firstprivate(add)
        for (int i = 0; i < kBlock; i++) to[i] = (from[i] + from[i + 2 * kBlock] + add) % kModulus;
      }
    }
  }
#pragma omp target exit data map(from : now) map(release : next)
  for (int sweep = 0; sweep < 2 * kSweeps; sweep++) {
    int half = sweep % 2, add = half + (mode == MARLINE_GRAPH_REPLAY ? 0 : sweep / 2);
    long *in = half ? other : expected, *out = half ? expected : other;
    for (int i = kBlock; i < kAll - kBlock; i++) out[i] = (in[i - kBlock] + in[i + kBlock] + add) % kModulus;
  }
  for (int i = 0; i < kAll; i++) CHECK_EQ(now[i], expected[i]);
}

/* What the program does between iterations, all of which are the same: the nodes repeat them as a whole, until the data
 * is changed, looked at, or taken away and mapped anew. */
static void use_between(int kind, long* data, long* expected) {
  if (kind == 3) { /* and no task waits for the region */
    long* last = data + kBlocks * kBlock;
#pragma omp target nowait map(tofrom : data[0 : kAll]) depend(inout : last[0])
    for (int i = 0; i < kAll; i++) data[i] += 3;
    for (int i = 0; i < kAll; i++) expected[i] += 3;
    return;
  }
  if (kind == 5) {
    long* last = data + kBlocks * kBlock;
#pragma omp taskwait depend(in : last[0])
#pragma omp target update from(last[0 : kBlock])
    for (int i = 0; i < kBlock; i++) CHECK_EQ(last[i], expected[kBlocks * kBlock + i]);
    return;
  }
#pragma omp taskwait
  if (kind == 1) {
    data[kBlock] = expected[kBlock] = 17;
#pragma omp target update to(data[kBlock : 1])
  } else if (kind == 2) {
#pragma omp target exit data map(from : data[0 : kAll])
    CHECK_EQ(data[kBlock], expected[kBlock]);
    data[kBlock] = ++expected[kBlock];
#pragma omp target enter data map(to : data[0 : kAll])
  } else if (kind == 4) {
#pragma omp target update from(data[0 : kAll])
    for (int i = 0; i < kAll; i++) CHECK_EQ(data[i], expected[i]);
  }
}

static void between(int mode) {
  static long data[kAll], expected[kAll];
  enum { kEvery = 9, kKinds = 6 };
  for (int i = 0; i < kAll; i++) data[i] = expected[i] = i;
#pragma omp target enter data map(to : data)
#pragma omp parallel
#pragma omp single
  {
    marline_graph_t* graph = marline_graph_begin(mode);
    for (int it = 0; it < 2 * kEvery * kKinds; it++) {
      if (marline_graph_iterate(graph)) {
        for (int b = 1; b <= kBlocks; b++) {
#pragma omp target nowait depend(in : data[(b - 1) * kBlock]) depend(inout : data[b * kBlock]) map(tofrom : data)
          for (int i = 0; i < kBlock; i++)
            data[b * kBlock + i] = (3 * data[b * kBlock + i] + data[(b - 1) * kBlock + i]) % kModulus;
        }
      }
      for (int i = kBlock; i < (kBlocks + 1) * kBlock; i++)
        expected[i] = (3 * expected[i] + expected[i - kBlock]) % kModulus;
      if (it % kEvery == kEvery - 1) use_between(it / kEvery % kKinds, data, expected);
    }
    marline_graph_end(graph);
  }
#pragma omp target exit data map(from : data)
  for (int i = 0; i < kAll; i++) CHECK_EQ(data[i], expected[i]);
}

/* Random iterations. ----------------------------------------------------------------------------------------------- */

enum { kCells = 12, kMostSteps = 40, kIterations = 14 };

typedef struct {
  int to, from, more; /* cells */
} rand_step_t;

typedef struct {
  long data[kCells * kBlock], expected[kCells * kBlock];
  rand_step_t steps[kMostSteps];
  int count;
  uint64_t state;
} rand_program_t;

static uint64_t draw(rand_program_t* p, uint64_t below) {
  p->state ^= p->state << 13;
  p->state ^= p->state >> 7;
  p->state ^= p->state << 17;
  return p->state % below;
}

#pragma omp declare target
static void do_step(long* data, int to, int from, int more, long add) {
  for (int i = 0; i < kBlock; i++)
    data[to * kBlock + i] =
        (3 * data[to * kBlock + i] + data[from * kBlock + i] + data[more * kBlock + kBlock - 1 - i] * (add % 7) + add) %
        kModulus;
}
#pragma omp end declare target

/* All regions map all cells, so regions without an order write beside each other. */
static void create(rand_program_t* p, rand_step_t step, long add) {
  long* data = p->data;
  int to = step.to, from = step.from, more = step.more;
#pragma omp target nowait depend(inout : data[to * kBlock]) depend(in : data[from * kBlock], data[more * kBlock]) \
    map(tofrom : data[0 : kCells * kBlock]) firstprivate(to, from, more, add)
  do_step(data, to, from, more, add);
}

static rand_step_t draw_step(rand_program_t* p) {
  return (rand_step_t){(int)draw(p, kCells), (int)draw(p, kCells), (int)draw(p, kCells)};
}

/* What an iteration does besides its steps. */
enum extra { NOTHING, MORE, LESS, OTHERS, WAIT, HOST_TASK, UPDATE, EXTRAS };

static void expect(rand_program_t* p, rand_step_t step, long add) {
  do_step(p->expected, step.to, step.from, step.more, add);
}

static void do_extra(rand_program_t* p, enum extra extra, int cell, rand_step_t other, int it, int* host) {
  if (extra == MORE) {
    create(p, other, it);
    expect(p, other, it);
  }
  if (extra == WAIT || extra == UPDATE) {
#pragma omp taskwait
  }
  if (extra == HOST_TASK) {
#pragma omp task depend(inout : host[0])
    ++*host;
  }
  if (extra == UPDATE) {
    long* data = p->data;
#pragma omp target update from(data[cell * kBlock : kBlock])
    for (int k = 0; k < kBlock; k++) CHECK_EQ(data[cell * kBlock + k], p->expected[cell * kBlock + k]);
  }
}

static void iterate(rand_program_t* p, int it, enum extra extra, int place, rand_step_t other, int* host) {
  for (int i = 0; i < p->count; i++) {
    if (i == place) {
      if (extra == LESS) continue;
      if (extra == OTHERS) p->steps[i] = other;
      do_extra(p, extra, p->steps[i].to, other, it, host);
    }
    create(p, p->steps[i], it);
    expect(p, p->steps[i], it);
  }
}

static void random_program(uint64_t seed, int mode) {
  rand_program_t* p = calloc(1, sizeof *p);
  p->state = seed * 0x9e3779b97f4a7c15u + 1;
  p->count = 4 + (int)draw(p, kMostSteps - 4);
  for (int i = 0; i < p->count; i++) p->steps[i] = draw_step(p);
  for (int i = 0; i < kCells * kBlock; i++) p->data[i] = p->expected[i] = i;
  long* data = p->data;
  (void)data;
  int host = 0, tasks = 0, often = draw(p, 3) == 0;
#pragma omp target enter data map(to : data[0 : kCells * kBlock])
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
    enum extra extra = draw(p, often ? 3 : 9) == 0 ? (enum extra)draw(p, EXTRAS) : NOTHING;
    int place = (int)draw(p, (uint64_t)p->count);
    rand_step_t other = draw_step(p);
    if (mode == MARLINE_GRAPH_REPLAY) extra = extra == HOST_TASK ? HOST_TASK : NOTHING;
    tasks += extra == HOST_TASK;
    iterate(p, it, extra, place, other, &host);
  }
  if (mode == MARLINE_GRAPH_REPLAY) { /* the code has run once, but where all iterations are recorded */
    tasks *= kIterations;
    for (int it = 1; it < kIterations; it++)
      for (int i = 0; i < p->count; i++) expect(p, p->steps[i], 0);
  }
#pragma omp target exit data map(from : data[0 : kCells * kBlock])
  for (int i = 0; i < kCells * kBlock; i++) CHECK_EQ(p->data[i], p->expected[i]);
  CHECK_EQ(host, tasks);
  free(p);
}

/* The producers of two graphs at once, each of which cuts what the nodes repeat of the other's. */
static void two_programs(uint64_t seed) {
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int k = 0; k < 2; k++) {
#pragma omp task firstprivate(k)
    random_program(seed * 2 + (uint64_t)k, kModes[(seed + (uint64_t)k) % 3]);
  }
}

int main(int count, char** words) {
  uint64_t seed = count > 1 ? strtoull(words[1], NULL, 10) : 1, rounds = count > 2 ? strtoull(words[2], NULL, 10) : 4;
  for (int m = 0; m < 3; m++) {
    stencil(kModes[m]);
    between(kModes[m]);
    for (uint64_t round = 0; round < rounds; round++) {
#pragma omp parallel
#pragma omp single
      random_program((seed * 1000 + round) * 3 + (uint64_t)m, kModes[m]);
    }
  }
  for (uint64_t round = 0; round < rounds; round++) two_programs(seed * 1000 + round);
  return 0;
}
