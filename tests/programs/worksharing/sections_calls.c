/* SPDX-License-Identifier: Apache-2.0
 *
 * sections by LLVM's entry points for it: each section once, with and without a barrier after the construct.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

int32_t __kmpc_sections_init(KmpIdent*, int32_t);
int32_t __kmpc_next_section(KmpIdent*, int32_t, int32_t count);
void __kmpc_end_sections(KmpIdent*, int32_t);

enum { kRounds = 40, kSections = 5 };
static int hits[kRounds][kSections];

static void execute(int round, int section) {
#pragma omp atomic
  hits[round][section]++;
}

static void construct(int round) { /* what a compiler makes of it */
  int32_t id = __kmpc_global_thread_num(&kmp_here);
  if (!__kmpc_sections_init(&kmp_here, id)) {
    for (int s = 0; s < kSections; s++) execute(round, s);
  } else {
    for (int32_t s; (s = __kmpc_next_section(&kmp_here, id, kSections)) >= 0 && s < kSections;) execute(round, s);
  }
  __kmpc_end_sections(&kmp_here, id);
}

static void check(void) {
  for (int r = 0; r < kRounds; r++)
    for (int s = 0; s < kSections; s++) CHECK_EQ(hits[r][s], 1);
  memset(hits, 0, sizeof hits);
}

int main(void) {
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) {
    construct(r);
#pragma omp barrier
    for (int s = 0; s < kSections; s++) CHECK_EQ(hits[r][s], 1);
  }
  check();
#pragma omp parallel
  for (int r = 0; r < kRounds; r++) /* nowait: threads are several constructs apart, of different kinds */
  {
    construct(r);
#pragma omp for schedule(monotonic : dynamic) nowait
    for (int i = 0; i < 10; i++) {
    }
  }
  check();
  for (int r = 0; r < kRounds; r++) /* outside of a region */
    construct(r);
  check();
  return 0;
}
