/* SPDX-License-Identifier: Apache-2.0
 *
 * 64 chains: one thread creates tasks that depend (inout) on 64 addresses in turn, 64 links per chain and taskwait. So
 * a chain's next link waits for its previous one, and 64 tasks can run at any time. Figure: `chain`, wall time per
 * task. Each link checks that it is the next of its chain: the counters are plain memory, ordered by the dependences
 * alone.
 */
#include "bench.h"

enum { kChains = 64, kLinks = 64 };

struct Chain {
  _Alignas(kBenchLine) long links;
  long misplaced;
};

static struct Chain chains[kChains];

static void create_links(void) {
  for (long link = 0; link < kLinks; ++link)
    for (int c = 0; c < kChains; ++c) {
      struct Chain* chain = &chains[c];
#pragma omp task firstprivate(chain, link) depend(inout : chain[0])
      {
        chain->misplaced += chain->links % kLinks != link;
        ++chain->links;
      }
    }
}

static void run(long rounds) {
  memset(chains, 0, sizeof chains);
#pragma omp parallel
#pragma omp single
  for (long i = 0; i < rounds; ++i) {
    create_links();
#pragma omp taskwait
  }
}

static int check(long rounds) {
  for (int c = 0; c < kChains; ++c)
    if (chains[c].links != rounds * kLinks || chains[c].misplaced) return 0;
  return 1;
}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"chain", "ns", kChains * kLinks, run, check, NULL}};
  return bench_main(argc, argv, figures, 1);
}
