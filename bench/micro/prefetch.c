/* SPDX-License-Identifier: Apache-2.0
 *
 * Independent tasks that each update one block, in an order that no hardware prefetcher guesses, in more memory than
 * the caches next to the core hold: the time that a software prefetch of dependences could hide. Marline had one, and
 * programs did not gain from it (docs/design/locality.md).
 * Figures, wall time per task of 1 KiB or 4 KiB: `update_1k_l3`, `update_4k_l3` out of 16 MiB, `update_1k_memory` out
 * of 256 MiB; and `chain_4k_l3`, where a task's successor takes the same block and a random second one.
 */
#include "bench.h"

#include <stdint.h>

enum { kBatch = 128, kWords = 1024 / 8 };
static const size_t kMost = (size_t)256 << 20;

static uint64_t* memory;
static uint32_t* order; /* a permutation of the blocks of the largest set */
static size_t at;       /* in `order` */
static long updates;

static void prepare(void) {
  size_t blocks = kMost / 1024;
  memory = aligned_alloc(4096, kMost);
  order = malloc(blocks * sizeof *order);
  if (memory == NULL || order == NULL) bench_fail("out of memory");
  memset(memory, 0, kMost);
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < blocks; i++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    size_t j = state % (i + 1);
    order[i] = order[j];
    order[j] = (uint32_t)i;
  }
}

static uint64_t* next_block(size_t set_bytes, size_t block_bytes) {
  if (++at == kMost / 1024) at = 0;
  return memory + order[at] % (set_bytes / block_bytes) * (block_bytes / 8);
}

static void update(uint64_t* block, int words) {
  for (int i = 0; i < words; i++) block[i]++;
}

static void batches(long rounds, size_t set_bytes, int kilobytes) {
  updates = 0;
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; round++) {
    for (int i = 0; i < kBatch; i++) {
      uint64_t* block = next_block(set_bytes, (size_t)kilobytes * 1024);
#pragma omp task firstprivate(block) depend(inout : block[0])
      update(block, kilobytes * kWords);
    }
    updates += kBatch;
#pragma omp taskwait
  }
}

static void update_1k_l3(long rounds) { batches(rounds, (size_t)16 << 20, 1); }
static void update_4k_l3(long rounds) { batches(rounds, (size_t)16 << 20, 4); }
static void update_1k_memory(long rounds) { batches(rounds, kMost, 1); }

static void chain_4k_l3(long rounds) {
  updates = 0;
#pragma omp parallel
#pragma omp single
  for (long round = 0; round < rounds; round++) {
    uint64_t* kept = next_block((size_t)16 << 20, 4096);
    for (int i = 0; i < kBatch; i++) {
      uint64_t* block = next_block((size_t)16 << 20, 4096);
#pragma omp task firstprivate(kept, block) depend(inout : kept[0], block[0])
      {
        kept[1]++;
        update(block, 4 * kWords);
      }
    }
    updates += kBatch;
#pragma omp taskwait
  }
}

/* Each update adds 1 to the second word of each KiB of its block, a link of a chain 1 more to one of them. */
static int check_updates(long rounds, long each) {
  uint64_t sum = 0;
  for (size_t i = 0; i < kMost / 8; i += kWords) sum += memory[i + 1];
  memset(memory, 0, kMost);
  return sum == (uint64_t)(updates * each) && updates == rounds * kBatch;
}

static int check_1k(long rounds) { return check_updates(rounds, 1); }
static int check_4k(long rounds) { return check_updates(rounds, 4); }
static int check_chain(long rounds) { return check_updates(rounds, 5); }

int main(int argc, char** argv) {
  static const struct BenchFigure figures[] = {{"update_1k_l3", "ns", kBatch, update_1k_l3, check_1k, NULL},
                                               {"update_4k_l3", "ns", kBatch, update_4k_l3, check_4k, NULL},
                                               {"update_1k_memory", "ns", kBatch, update_1k_memory, check_1k, NULL},
                                               {"chain_4k_l3", "ns", kBatch, chain_4k_l3, check_chain, NULL}};
  prepare();
  return bench_main(argc, argv, figures, 4);
}
