/* SPDX-License-Identifier: Apache-2.0
 *
 * Tasks with private data: what a firstprivate array of 1 KiB to 4 MiB costs. Figures, wall time per task:
 * `private_SIZE`, the first thread creates batches of 16 tasks and waits for each batch. Each task adds the first and
 * the last word of its copy, so the time is for memory, for copying (once by Clang, twice by GCC), and for a task. The
 * first thread creates, because its stack has room for GCC's second copy of 4 MiB (`ulimit -s` of 8 MiB).
 */
#include "bench.h"

enum { kBatch = 16 };

static long sum;

#define OMP(words) _Pragma(#words)
#define KIB(size) ((size) * 1024 / (long)sizeof(long))
#define SIZE(name, size)                                                                             \
  struct Data##name {                                                                                \
    long words[KIB(size)];                                                                           \
  };                                                                                                 \
  static struct Data##name data##name;                                                               \
  static void create##name(void) {                                                                   \
    struct Data##name* shared_data = &data##name;                                                    \
    OMP(omp task firstprivate(data##name) shared(sum)) {                                             \
      long both = data##name.words[0] + data##name.words[KIB(size) - 1];                             \
      __atomic_add_fetch(&sum, both, __ATOMIC_RELAXED);                                              \
    }                                                                                                \
    shared_data->words[0] ^= 2; /* 1 and 3 in turn: a task that saw another's data spoils the sum */ \
  }                                                                                                  \
  static void run##name(long rounds) {                                                               \
    sum = 0;                                                                                         \
    data##name.words[0] = 1;                                                                         \
    data##name.words[KIB(size) - 1] = 4;                                                             \
    OMP(omp parallel) {                                                                              \
      OMP(omp master) for (long round = 0; round < rounds; round++) {                                \
        for (int i = 0; i < kBatch; i++) create##name();                                             \
        OMP(omp taskwait)                                                                            \
      }                                                                                              \
    }                                                                                                \
  }

SIZE(1KiB, 1)
SIZE(4KiB, 4)
SIZE(16KiB, 16)
SIZE(24KiB, 24)
SIZE(64KiB, 64)
SIZE(256KiB, 256)
SIZE(1MiB, 1024)
SIZE(4MiB, 4096)

static int check(long rounds) { return sum == rounds * kBatch * 6; }

#define FIGURE(name) {"private_" #name, "ns", kBatch, run##name, check, NULL}

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {FIGURE(1KiB),  FIGURE(4KiB),   FIGURE(16KiB), FIGURE(24KiB),
                                               FIGURE(64KiB), FIGURE(256KiB), FIGURE(1MiB),  FIGURE(4MiB)};
  return bench_main(argc, argv, figures, sizeof figures / sizeof *figures);
}
