/* SPDX-License-Identifier: Apache-2.0
 *
 * Deferred regions that store pointers into mapped data when successors that follow these pointers have been submitted
 * early. Random families of blocks: a family's regions are ordered one after the other, and link its blocks, cut links,
 * and change all blocks that they reach from the one that they map; families run beside each other. The kernels have
 * run before, without a pointer in any block. The host does the same one by one.
 *
 * Covers: target(nowait, depend, map:tofrom, firstprivate), target enter data(map:to), target exit data(map:release),
 *   target update(nowait, depend, from)
 */
#ifndef FILL
#define FILL 20000 /* so much that copies are made in parts */
#endif
enum { kSteps = 24, kFill = FILL };

typedef struct {
  struct Block* block;
  long fill[kFill];
} Holder;

#define BLOCK_FIELDS
#define FAMILY_FIELDS \
  Holder holders[2];  \
  long visits[kLength], expected_visits[kLength];
#include "../pointers/pointer_families.h"

/* `spin`: how long the region takes, so that its successors are sent before it ends. */
static void link_to(int f, Block* from, Block* to, int is_cut, int spin) {
  (void)f;
#pragma omp target nowait depend(inout : g_order[f]) map(tofrom : from[0 : 1], to[0 : 1]) firstprivate(is_cut, spin)
  {
    for (volatile int i = 0; i < spin; i++) {
    }
    from->next = is_cut ? NULL : to;
    to->values[1] += 3;
  }
}

static void walk(int f, Block* first, int factor) {
  (void)f;
#pragma omp target nowait depend(inout : g_order[f]) map(tofrom : first[0 : 1]) firstprivate(factor)
  {
    int left = 2 * kBlocks;
    for (Block* block = first; block != NULL && left > 0; block = block->next, left--)
      for (int i = 0; i < kLength; i++) block->values[i] = block->values[i] * factor + left;
  }
}

/* The same, with data that is mapped for this region alone: it leaves after the region, which may come to use more. */
static void count_visits(int f, Block* first, long* visits) {
  (void)f;
#pragma omp target enter data nowait depend(inout : g_order[f]) map(to : visits[0 : kLength])
#pragma omp target nowait depend(inout : g_order[f]) map(tofrom : first[0 : 1], visits[0 : kLength])
  {
    int left = 2 * kBlocks;
    for (Block* block = first; block != NULL && left > 0; block = block->next, left--)
      for (int i = 0; i < kLength; i++) visits[i] += block->values[i] % 7;
  }
#pragma omp target exit data nowait depend(inout : g_order[f]) map(from : visits[0 : kLength])
}

/* A pointer is copied to the host, and back to the device with the next region. When the next region is sent, its data
 * is not known yet. */
static void carry(int f, Block* block, Holder* holder, int is_null) {
  (void)f;
#pragma omp target nowait depend(inout : g_order[f]) map(from : holder[0 : 1]) map(tofrom : block[0 : 1]) \
    firstprivate(is_null)
  {
    for (int i = 0; i < kFill; i++) holder->fill[i] = i;
    holder->block = is_null ? NULL : block;
  }
#pragma omp target nowait depend(inout : g_order[f]) map(to : holder[0 : 1])
  {
    if (holder->block != NULL) holder->block->values[2] += holder->fill[kFill - 1];
  }
}

static void copy_home(int f, Block* block) {
  (void)f;
#pragma omp target update nowait depend(inout : g_order[f]) from(block -> values)
}

static void expect_walk(Family* family, int first, int factor) {
  int left = 2 * kBlocks;
  for (int b = first; b >= 0 && left > 0; b = family->next[b], left--)
    for (int i = 0; i < kLength; i++) family->expected[b][i] = family->expected[b][i] * factor + left;
}

static void expect_visits(Family* family, int first) {
  int left = 2 * kBlocks;
  for (int b = first; b >= 0 && left > 0; b = family->next[b], left--)
    for (int i = 0; i < kLength; i++) family->expected_visits[i] += family->expected[b][i] % 7;
}

static void step(int f) {
  Family* family = &g_families[f];
  int a = draw(kBlocks), b = draw(kBlocks), what = draw(11);
  if (what < 3 && a != b) {
    int is_cut = draw(4) == 0;
    link_to(f, family->blocks[a], family->blocks[b], is_cut, draw(2) * 300 * 1000);
    family->next[a] = is_cut ? -1 : b;
    family->expected[b][1] += 3;
  } else if (what < 7) {
    int factor = 1 + draw(3);
    walk(f, family->blocks[a], factor);
    expect_walk(family, a, factor);
  } else if (what == 7) {
    carry(f, family->blocks[a], &family->holders[draw(2)], 0);
    family->expected[a][2] += kFill - 1;
  } else if (what == 8) {
    copy_home(f, family->blocks[a]);
  } else {
    count_visits(f, family->blocks[a], family->visits);
    expect_visits(family, a);
  }
}

static void begin(void) {
  for (int f = 0; f < kFamilies; f++) begin_family(f);
  for (int f = 0; f < kFamilies; f++) { /* the kernels run once, and are known then */
    Family* family = &g_families[f];
    link_to(f, family->blocks[0], family->blocks[1], 1, 0);
    family->expected[1][1] += 3;
    walk(f, family->blocks[0], 1);
    expect_walk(family, 0, 1);
    carry(f, family->blocks[0], &family->holders[0], 1);
    count_visits(f, family->blocks[0], family->visits);
    expect_visits(family, 0);
  }
#pragma omp taskwait
}

int main(int count, char** words) {
  g_seed = count > 1 ? (unsigned)atoi(words[1]) : 1;
  begin();
#pragma omp parallel
#pragma omp single
  for (int s = 0; s < kSteps; s++)
    for (int f = 0; f < kFamilies; f++) step(f);
  end_families();
  for (int f = 0; f < kFamilies; f++)
    for (int i = 0; i < kLength; i++) CHECK_EQ(g_families[f].visits[i], g_families[f].expected_visits[i]);
  return 0;
}
