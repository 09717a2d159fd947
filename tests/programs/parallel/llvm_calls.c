/* SPDX-License-Identifier: Apache-2.0
 *
 * Entry points of LLVM's runtime that its compilers do not call: barriers that the primary thread leaves first, a
 * region's function called again, and the release of threads.
 *
 * Covers: entry points of other compilers
 */
#include "../check.h"
#include "../kmp.h"
#include <omp.h>

int32_t __kmpc_barrier_master(KmpIdent*, int32_t);
void __kmpc_end_barrier_master(KmpIdent*, int32_t);
int32_t __kmpc_barrier_master_nowait(KmpIdent*, int32_t);
int32_t __kmpc_invoke_task_func(int32_t);
int32_t __kmpc_pause_resource(int32_t kind);

static void barriers(void) {
  enum { kRounds = 200 };
  static int arrived[kRounds], done[kRounds], blocks;
  int n = 0;
#pragma omp parallel
  {
    int32_t id = __kmpc_global_thread_num(&kmp_here);
#pragma omp single
    n = omp_get_num_threads();
    for (int r = 0; r < kRounds; r++) {
#pragma omp atomic
      arrived[r]++;
      if (__kmpc_barrier_master(&kmp_here, id)) {
        CHECK_EQ(omp_get_thread_num(), 0);
        CHECK_EQ(arrived[r], n);
        done[r] = 1;
        blocks++;
        __kmpc_end_barrier_master(&kmp_here, id);
      }
      CHECK_EQ(done[r], 1); /* no thread goes on before the block has ended */
    }
  }
  CHECK_EQ(blocks, kRounds);
  memset(arrived, 0, sizeof arrived);
  blocks = 0;
#pragma omp parallel
  {
    int32_t id = __kmpc_global_thread_num(&kmp_here);
    for (int r = 0; r < kRounds; r++) {
#pragma omp atomic
      arrived[r]++;
      int is_primary = __kmpc_barrier_master_nowait(&kmp_here, id);
      int seen;
#pragma omp atomic read
      seen = arrived[r];
      CHECK_EQ(seen, n);
      CHECK_EQ(is_primary, omp_get_thread_num() == 0);
      if (is_primary) blocks++;
    }
  }
  CHECK_EQ(blocks, kRounds);
}

static void call_again(void) {
  int calls[64] = {0}, n = 0;
#pragma omp parallel shared(calls, n)
  {
    int me = omp_get_thread_num();
    if (me == 0) n = omp_get_num_threads();
    if (omp_get_num_threads() > 1 && me < 64 && ++calls[me] < 3)
      CHECK_EQ(__kmpc_invoke_task_func(__kmpc_global_thread_num(&kmp_here)), 1);
  }
  for (int i = 0; n > 1 && i < n && i < 64; i++) CHECK_EQ(calls[i], 3);
}

static int team_size(void) {
  int n = 0;
#pragma omp parallel reduction(+ : n)
  n++;
  return n;
}

static void release(void) {
  enum { kSoft = 1, kHard = 2 };
  int n = team_size();
  for (int kind = kSoft; kind <= kHard; kind++) {
    CHECK_EQ(__kmpc_pause_resource(kind), 0);
    CHECK_EQ(team_size(), n); /* the next region has its threads again */
  }
  CHECK(__kmpc_pause_resource(17) != 0);
}

int main(void) {
  omp_set_dynamic(0);
  barriers();
  call_again();
  release();
  return 0;
}
