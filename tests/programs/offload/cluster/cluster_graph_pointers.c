/* SPDX-License-Identifier: Apache-2.0
 *
 * Persistent graphs that nodes repeat by themselves. Their regions store pointers into mapped data in a later
 * iteration, when the successors that follow these pointers are at their nodes already. Random families of blocks as in
 * cluster_late_pointers.c; a region counts its runs, and links two blocks, or cuts a link, in one of them. Some
 * families do not wait for the others of an iteration. The host does the same one by one.
 *
 * Arguments: SEED.
 *
 * Covers: target(nowait, depend, map:tofrom, firstprivate), target enter data(map:to), target exit data(map:release),
 *   target update(from)
 */
#ifndef STEPS
#define STEPS 10 /* with many, an iteration waits for the one before to be sent */
#endif
enum { kMostSteps = STEPS, kIterations = 14 };

enum { LINK, CUT, WALK, KINDS };

typedef struct {
  int kind, a, b, when, spin;
  long factor;
} Step;

#define BLOCK_FIELDS long runs[kMostSteps];
#define FAMILY_FIELDS     \
  Step steps[kMostSteps]; \
  int count;
#include "../pointers/pointer_families.h"

#include <marline/marline.h>

/* `spin`: how long the region takes, so that its successors are sent before it ends. */
static void link_to(int f, Block* from, Block* to, int s, int when, int cuts, int spin, long add) {
  (void)f;
#pragma omp target nowait depend(inout : g_order[f]) map(tofrom : from[0 : 1], to[0 : 1]) \
    firstprivate(s, when, cuts, spin, add)
  {
    for (volatile int i = 0; i < spin; i++) {
    }
    if (++from->runs[s] == when) from->next = cuts ? NULL : to;
    to->values[1] += add;
  }
}

static void walk(int f, Block* first, long factor, long add) {
  (void)f;
#pragma omp target nowait depend(inout : g_order[f]) map(tofrom : first[0 : 1]) firstprivate(factor, add)
  {
    int left = 2 * kBlocks;
    for (Block* block = first; block != NULL && left > 0; block = block->next, left--)
      for (int i = 0; i < kLength; i++) block->values[i] = (block->values[i] * factor + left + add) % 1000003;
  }
}

static void create(int f, int s, long add) {
  Family* family = &g_families[f];
  Step step = family->steps[s];
  if (step.kind == WALK)
    walk(f, family->blocks[step.a], step.factor, add);
  else
    link_to(f, family->blocks[step.a], family->blocks[step.b], s, step.when, step.kind == CUT, step.spin, add);
}

static void expect(int f, int s, int iteration, long add) {
  Family* family = &g_families[f];
  Step step = family->steps[s];
  if (step.kind != WALK) {
    if (iteration + 1 == step.when) family->next[step.a] = step.kind == CUT ? -1 : step.b;
    family->expected[step.b][1] += add;
    return;
  }
  int left = 2 * kBlocks;
  for (int b = step.a; b >= 0 && left > 0; b = family->next[b], left--)
    for (int i = 0; i < kLength; i++)
      family->expected[b][i] = (family->expected[b][i] * step.factor + left + add) % 1000003;
}

/* No pointer is stored before the nodes repeat the iterations. */
static void begin(void) {
  int first = 6 + draw(6);
  for (int f = 0; f < kFamilies; f++) {
    Family* family = &g_families[f];
    begin_family(f);
    family->count = kMostSteps / 3 + draw(kMostSteps - kMostSteps / 3 + 1);
    for (int s = 0; s < family->count; s++) {
      int a = draw(kBlocks), b = (a + 1 + draw(kBlocks - 1)) % kBlocks, kind = draw(8);
      family->steps[s] = (Step){kind == 0  ? CUT
                                : kind < 4 ? LINK
                                           : WALK,
                                a,
                                b,
                                first + draw(kIterations - first + 3),
                                draw(2) * 300 * 1000,
                                1 + draw(3)};
    }
  }
}

int main(int count, char** words) {
  g_seed = count > 1 ? (unsigned)atoi(words[1]) : 1;
  static const int modes[] = {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY};
  int mode = modes[g_seed % 3], changes = mode != MARLINE_GRAPH_REPLAY;
  begin();
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, mode) {
    for (int s = 0; s < kMostSteps; s++)
      for (int f = 0; f < kFamilies; f++)
        if (s < g_families[f].count) create(f, s, changes ? it : 0);
  }
  for (int it = 0; it < kIterations; it++)
    for (int s = 0; s < kMostSteps; s++)
      for (int f = 0; f < kFamilies; f++)
        if (s < g_families[f].count) expect(f, s, it, changes ? it : 0);
  end_families();
  return 0;
}
