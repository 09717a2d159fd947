/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred target constructs in a persistent graph: a stencil with sweeps of target regions and updates, ordered by
 * dependences, in all modes. Data is mapped around the loop, or by the regions themselves, or the maps change while the
 * graph is kept. Each result is compared with the same sweeps by one thread.
 *
 * Covers: target(nowait, depend, map:tofrom, map:to), target enter data(map:to), target exit data(map:from),
 *   target update(to, from, nowait, depend)
 */
#include "../device.h"

#include <marline/marline.h>

enum { kBlocks = 8, kBlock = 64, kAll = (kBlocks + 2) * kBlock, kSweeps = 12 };

static long on_host(int sweeps) {
  static long now[kAll], next[kAll];
  for (int i = 0; i < kAll; i++) now[i] = next[i] = i;
  for (int s = 0; s < sweeps; s++) {
    for (int i = kBlock; i < kAll - kBlock; i++) next[i] = (now[i - kBlock] + now[i + kBlock]) % 1000003 + s % 2 + 1;
    memcpy(now, next, sizeof now);
  }
  long sum = 0;
  for (int i = 0; i < kAll; i++) sum = (sum * 31 + now[i]) % 1000000007;
  return sum;
}

static long sum_of(const long* now) {
  long sum = 0;
  for (int i = 0; i < kAll; i++) sum = (sum * 31 + now[i]) % 1000000007;
  return sum;
}

/* Two sweeps, so that every iteration is the same. Where `whole` is 0, each region maps what it uses. */
static void two_sweeps(long* now, long* next) {
  for (int half = 0; half < 2; half++) {
    long *in = half ? next : now, *out = half ? now : next;
    for (int b = 1; b <= kBlocks; b++) {
      long *from = in + (b - 1) * kBlock, *to = out + b * kBlock;
#pragma omp target nowait depend(in : in[(b - 1) * kBlock], in[b * kBlock], in[(b + 1) * kBlock]) depend(out : to[0]) \
    map(to : from[0 : 3 * kBlock]) map(tofrom : to[0 : kBlock]) firstprivate(half)
      for (int i = 0; i < kBlock; i++) to[i] = (from[i] + from[i + 2 * kBlock]) % 1000003 + half + 1;
    }
  }
}

static void start(long* now, long* next) {
  for (int i = 0; i < kAll; i++) now[i] = next[i] = i;
}

static void mapped_around(int mode) {
  static long now[kAll], next[kAll];
  start(now, next);
#pragma omp target enter data map(to : now, next)
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kSweeps / 2, ++it, mode) { two_sweeps(now, next); }
#pragma omp target exit data map(from : now) map(release : next)
  CHECK_EQ(sum_of(now), on_host(kSweeps));
}

/* The regions' own maps overlap, so the whole arrays are mapped around the regions of one iteration. */
static void mapped_in_the_graph(int mode) {
  static long now[kAll], next[kAll];
  start(now, next);
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kSweeps / 2, ++it, mode) {
#pragma omp target enter data nowait map(to : now, next) \
    depend(iterator(b = 0 : kBlocks + 2), out : now[b * kBlock], next[b * kBlock])
    two_sweeps(now, next);
#pragma omp target exit data nowait map(from : now, next) \
    depend(iterator(b = 0 : kBlocks + 2), out : now[b * kBlock], next[b * kBlock])
  }
  CHECK_EQ(sum_of(now), on_host(kSweeps));
}

/* The same tasks meet other data environments: mapped as a whole, then block by block in other places. */
static void maps_change(int mode) {
  static long data[4 * kBlock];
  for (int i = 0; i < 4 * kBlock; i++) data[i] = 1;
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kSweeps, ++it, mode) {
    if (it % 3 == 1) {
#pragma omp target enter data map(to : data)
    }
    for (int b = 0; b < 4; b++) {
      long* block = data + b * kBlock;
#pragma omp target nowait depend(inout : block[0]) map(tofrom : block[0 : kBlock])
      for (int i = 0; i < kBlock; i++) block[i] = 2 * block[i] + i;
    }
    if (it % 3 == 2) {
#pragma omp taskwait
#pragma omp target exit data map(from : data)
    }
  }
  for (int i = 0; i < 4 * kBlock; i++) {
    long expected = 1;
    for (int it = 0; it < kSweeps; it++) expected = 2 * expected + i % kBlock;
    CHECK_EQ(data[i], expected);
  }
}

static void updates(int mode) {
  static long data[kBlocks][kBlock], host[kBlocks];
  memset(data, 0, sizeof data);
  memset(host, 0, sizeof host);
#pragma omp target enter data map(to : data)
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kSweeps, ++it, mode) {
    for (int b = 0; b < kBlocks; b++) {
#pragma omp target nowait depend(inout : data[b][0]) map(to : data)
      for (int i = 0; i < kBlock; i++) data[b][i] += b + 1;
#pragma omp target update from(data[b]) nowait depend(inout : data[b][0])
#pragma omp task depend(inout : data[b][0])
      {
        host[b] += data[b][kBlock - 1];
        data[b][0] = host[b];
      }
#pragma omp target update to(data[b][0 : 1]) nowait depend(inout : data[b][0])
    }
  }
#pragma omp target exit data map(from : data)
  for (int b = 0; b < kBlocks; b++) {
    CHECK_EQ(host[b], (long)(b + 1) * kSweeps * (kSweeps + 1) / 2);
    CHECK_EQ(data[b][0], host[b]);
    CHECK_EQ(data[b][1], (long)(b + 1) * kSweeps);
  }
}

int main(void) {
  const int modes[] = {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY};
  for (int m = 0; m < 3; m++) {
    mapped_around(modes[m]);
    mapped_in_the_graph(modes[m]);
    updates(modes[m]);
    if (modes[m] == MARLINE_GRAPH_BARRIER) maps_change(modes[m]);
  }
  return 0;
}
