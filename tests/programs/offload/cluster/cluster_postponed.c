/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that waits for each of its regions, with data on one node alone. Then the cluster's node does not look at
 * once for pointers in what the regions have written. Random regions store pointers to blocks into large arrays, follow
 * them without a map of the block, copy them, and cut them; the host changes blocks and reads parts of the arrays
 * meanwhile. At some step comes what the node has to look for: regions on other nodes, deferred ones, several threads,
 * or large data of the host's. The host does the same one by one.
 *
 *     cluster_postponed [seed]
 *
 * Covers: target(map:tofrom, firstprivate, nowait, depend, device), target enter data(map:to, map:alloc),
 *   target exit data(map:release), target update(to, from)
 */
#include "../device.h"

#include <stdlib.h>
#include <unistd.h>

enum { kHolders = 4, kSlots = 3, kBlocks = 6, kLate = kBlocks - 1, kLength = 40, kFill = 170000 };
enum { kFirst = 4, kSteps = 60, kNone = -1 };

typedef struct {
  long values[kLength];
} Block;

/* More than a megabyte, as only whole ones of them are looked at later. The slots lie anywhere. */
typedef struct {
  long fill[kFill];
  Block* at[kSlots];
  long tail[kFill / 8];
} Holder;

static Holder* g_holders[kHolders];
static Block* g_blocks[kBlocks];
static long g_fill[kHolders], g_values[kBlocks][kLength];
static int g_at[kHolders][kSlots]; /* which block, or kNone */
static int g_mapped[kBlocks];
static unsigned g_seed;

static int draw(int below) {
  g_seed = g_seed * 1664525u + 1013904223u;
  return (int)((g_seed >> 8) % (unsigned)below);
}

static void change_all(void) {
  Holder *a = g_holders[0], *b = g_holders[1], *c = g_holders[2], *d = g_holders[3];
#pragma omp target map(tofrom : a[0 : 1], b[0 : 1], c[0 : 1], d[0 : 1])
  for (int i = 0; i < kFill; i++) a->fill[i]++, b->fill[i]++, c->fill[i]++, d->fill[i]++;
  for (int h = 0; h < kHolders; h++) g_fill[h]++;
}

static void change(int h) {
  Holder* holder = g_holders[h];
#pragma omp target map(tofrom : holder[0 : 1])
  for (int i = 0; i < kFill; i++) holder->fill[i] += 3;
  g_fill[h] += 3;
}

static void map_block(int b) {
  Block* block = g_blocks[b];
  for (int i = 0; i < kLength; i++) block->values[i] = g_values[b][i] = b * 1000 + i;
#pragma omp target enter data map(to : block[0 : 1])
  g_mapped[b] = 1;
}

static void store(int h, int slot, int b) {
  Holder* holder = g_holders[h];
  Block* block = g_blocks[b];
#pragma omp target map(tofrom : holder[0 : 1], block[0 : 1]) firstprivate(slot)
  {
    holder->at[slot] = block;
    block->values[1]++;
  }
  g_at[h][slot] = b;
  g_values[b][1]++;
}

static void cut(int h, int slot) {
  Holder* holder = g_holders[h];
#pragma omp target map(tofrom : holder[0 : 1]) firstprivate(slot)
  holder->at[slot] = NULL;
  g_at[h][slot] = kNone;
}

static void copy_pointer(int from, int from_slot, int to, int to_slot) {
  Holder *one = g_holders[from], *other = g_holders[to];
  if (from == to) return;
#pragma omp target map(tofrom : one[0 : 1], other[0 : 1]) firstprivate(from_slot, to_slot)
  other->at[to_slot] = one->at[from_slot];
  g_at[to][to_slot] = g_at[from][from_slot];
}

static void expect_walk(int h, int factor) {
  for (int s = 0; s < kSlots; s++)
    for (int i = 0; i < kLength && g_at[h][s] != kNone; i++)
      g_values[g_at[h][s]][i] = (g_values[g_at[h][s]][i] * factor + s) % 1000003;
}

#define WALK(holder, factor)                                   \
  for (int s = 0; s < kSlots; s++)                             \
    for (int i = 0; i < kLength && holder->at[s] != NULL; i++) \
      holder->at[s]->values[i] = (holder->at[s]->values[i] * factor + s) % 1000003;

/* The blocks are in no clause. */
static void walk(int h, int factor, int node) {
  Holder* holder = g_holders[h];
  if (node < 0) {
#pragma omp target map(tofrom : holder[0 : 1]) firstprivate(factor)
    WALK(holder, factor)
  } else {
#pragma omp target map(tofrom : holder[0 : 1]) firstprivate(factor) device(node)
    WALK(holder, factor)
  }
  expect_walk(h, factor);
}

static void walk_later(int h, int factor) {
  Holder* holder = g_holders[h];
#pragma omp target nowait map(tofrom : holder[0 : 1]) firstprivate(factor) depend(inout : g_fill)
  WALK(holder, factor)
  expect_walk(h, factor);
}

/* A region stores a pointer when another one, of another thread, has come meanwhile. */
static void store_beside(int h, int slot, int b, int other) {
  Holder* holder = g_holders[h];
  Block* block = g_blocks[b];
  int threads = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
    threads = omp_get_num_threads();
#pragma omp target map(tofrom : holder[0 : 1], block[0 : 1]) firstprivate(slot)
    {
      for (volatile int i = 0; i < 10 * 1000 * 1000; i++) {
      }
      holder->at[slot] = block;
    }
  } else {
    usleep(3000); /* the region runs then, as a rule */
    change(other);
  }
  if (threads == 1) change(other);
  g_at[h][slot] = b;
}

static void change_on_host(int b) {
  Block* block = g_blocks[b];
#pragma omp target update from(block[0 : 1])
  for (int i = 0; i < kLength; i++) {
    CHECK_EQ(block->values[i], g_values[b][i]);
    block->values[i] = g_values[b][i] = (g_values[b][i] * 7 + b) % 1000003;
  }
#pragma omp target update to(block[0 : 1])
}

static void check_part(int h) {
  Holder* holder = g_holders[h];
  int first = draw(kFill - 100);
#pragma omp target update from(holder->fill[first : 100])
  for (int i = first; i < first + 100; i++) CHECK_EQ(holder->fill[i], g_fill[h]);
}

static void add_up(int h) {
  Holder* holder = g_holders[h];
  long sum = 1;
#pragma omp target map(tofrom : sum) map(tofrom : holder[0 : 1])
  for (int i = 0; i < kFill; i++) sum += holder->fill[i];
  CHECK_EQ(sum, 1 + kFill * g_fill[h]);
}

/* One of these steps, which are all that the program does at a time. */
static void step(int node) {
  int h = draw(kHolders), slot = draw(kSlots), b = draw(kLate), what = draw(12);
  if (!g_mapped[b]) return map_block(b);
  if (what < 3)
    store(h, slot, b);
  else if (what < 4)
    cut(h, slot);
  else if (what < 5)
    copy_pointer(h, slot, draw(kHolders), draw(kSlots));
  else if (what < 8)
    walk(h, 1 + draw(5), node);
  else if (what < 10)
    change_on_host(b);
  else if (what < 11)
    draw(3) == 0 ? check_part(h) : draw(2) == 0 ? change_all() : change(h);
  else
    add_up(h);
}

/* What others see only if the node looks. */
static void come_together(void) {
  int devices = omp_get_num_devices(), what = draw(6);
  if (what == 0) {
    for (int h = 0; h < kHolders; h++) walk(h, 2, 1 + h < devices ? 1 + h : -1);
  } else if (what == 1) {
#pragma omp parallel
#pragma omp single
    for (int h = 0; h < 2 * kHolders; h++) walk_later(h % kHolders, 3);
  } else if (what == 2) { /* two threads, and what each does uses nothing of the other's */
#pragma omp parallel for num_threads(kHolders) schedule(static, 1)
    for (int h = 0; h < kHolders; h++) change(h);
  } else if (what == 3) {
    static long large[100000];
    long *at = large, last = 0;
#pragma omp target enter data map(to : at[0 : 100000])
    walk(draw(kHolders), 2, -1);
#pragma omp target map(tofrom : at[0 : 100000]) map(from : last)
    last = ++at[99999];
#pragma omp target exit data map(release : at[0 : 100000])
    CHECK_EQ(last, 1);
  } else if (what == 4) { /* to a block to which there is no pointer yet */
    map_block(kLate);
    store_beside(0, 0, kLate, 1);
    change_on_host(kLate);
    walk(0, 3, devices > 1 ? devices - 1 : -1);
  } else {
    long* empty = malloc(sizeof *empty * 2000000);
    CHECK(empty != NULL);
#pragma omp target enter data map(alloc : empty[0 : 2000000])
    walk(draw(kHolders), 2, -1);
#pragma omp target exit data map(release : empty[0 : 2000000])
    free(empty);
  }
}

static void begin(void) {
  for (int h = 0; h < kHolders; h++) {
    Holder* holder = g_holders[h] = calloc(1, sizeof *holder);
    CHECK(holder != NULL);
#pragma omp target enter data map(to : holder[0 : 1])
    for (int s = 0; s < kSlots; s++) g_at[h][s] = kNone;
  }
  for (int b = 0; b < kBlocks; b++) CHECK((g_blocks[b] = calloc(1, sizeof *g_blocks[b])) != NULL);
  for (int i = 0; i < kFirst + draw(3); i++) change_all();
}

static void end(void) {
  for (int h = 0; h < kHolders; h++) {
    Holder* holder = g_holders[h];
#pragma omp target update from(holder->fill)
    for (int i = 0; i < kFill; i++) CHECK_EQ(holder->fill[i], g_fill[h]);
#pragma omp target exit data map(release : holder[0 : 1])
    free(holder);
  }
  for (int b = 0; b < kBlocks; b++) {
    Block* block = g_blocks[b];
    for (int i = 0; i < kLength && !g_mapped[b]; i++) g_values[b][i] = 0;
    if (g_mapped[b]) {
#pragma omp target update from(block[0 : 1])
#pragma omp target exit data map(release : block[0 : 1])
    }
    for (int i = 0; i < kLength; i++) CHECK_EQ(block->values[i], g_values[b][i]);
    free(block);
  }
}

int main(int count, char** words) {
  g_seed = count > 1 ? (unsigned)atoi(words[1]) : 1;
  begin();
  int alone = kSteps / 4 + draw(kSteps / 2), devices = omp_get_num_devices();
  for (int s = 0; s < alone; s++) step(-1);
  if (draw(8) != 0) come_together();
  for (int s = alone; s < kSteps && devices > 1; s++) step(draw(2) == 0 ? 1 + draw(devices - 1) : -1);
  end();
  return 0;
}
