/* SPDX-License-Identifier: Apache-2.0
 *
 * The lists of dimensions that Clang's code passes for sections that are not contiguous: up to 22, offsets count
 * strides, but the last one elements, and an element's bytes stand last as a stride; from 23 on, offsets are bytes, and
 * an element's bytes stand last as a count. Random boxes in an array of three dimensions, by both, written by hand.
 *
 * Covers: target enter data(map:to), target exit data(map:delete), entry points of other compilers
 */
#include "../device.h"
#include <stdint.h>

enum { kA = 4, kB = 5, kC = 7, kRounds = 200 };

typedef struct {
  uint64_t offset, count, stride;
} Dimension;

void __tgt_target_data_update_mapper(void* ident, int64_t device, int32_t count, void** bases, void** begins,
                                     int64_t* sizes, int64_t* types, void** names, void** mappers);

static int box[kA][kB][kC];
static unsigned state = 1;

static int draw(int below) {
  state = state * 1103515245u + 12345;
  return (int)(state >> 16) % below;
}

static void update_from(Dimension* list, int64_t dimensions) {
  void *bases[] = {box}, *begins[] = {list};
  int64_t sizes[] = {dimensions}, types[] = {(int64_t)1 << 44 | 2}; /* not contiguous, from */
  __tgt_target_data_update_mapper(NULL, -1, 1, bases, begins, sizes, types, NULL, NULL);
}

static void update_box(int newer, const int* first, const int* count) {
  const uint64_t strides[] = {kB * kC * sizeof(int), kC * sizeof(int), sizeof(int)};
  Dimension list[4];
  for (int k = 0; k < 3; k++) {
    uint64_t offset = (uint64_t)first[k];
    list[k] = (Dimension){newer ? offset * strides[k] : offset, (uint64_t)count[k], strides[k]};
  }
  list[3] = newer ? (Dimension){0, sizeof(int), 1} : (Dimension){0, 1, sizeof(int)};
  update_from(list, 4);
}

int main(void) {
  const int extents[] = {kA, kB, kC};
  if (!own_copies()) return 0;
  int* flat = &box[0][0][0];
  for (int i = 0; i < kA * kB * kC; i++) flat[i] = 1000 + i;
#pragma omp target enter data map(to : box)
  for (int round = 0; round < kRounds; round++) {
    int first[3], count[3];
    for (int k = 0; k < 3; k++) {
      first[k] = draw(extents[k]);
      count[k] = 1 + draw(extents[k] - first[k]);
    }
    for (int i = 0; i < kA * kB * kC; i++) flat[i] = i;
    update_box(round % 2, first, count);
    for (int a = 0; a < kA; a++) {
      for (int b = 0; b < kB; b++) {
        for (int c = 0; c < kC; c++) {
          int inside = a >= first[0] && a < first[0] + count[0] && b >= first[1] && b < first[1] + count[1] &&
                       c >= first[2] && c < first[2] + count[2];
          CHECK_EQ(box[a][b][c], (inside ? 1000 : 0) + (a * kB + b) * kC + c);
        }
      }
    }
  }
#pragma omp target exit data map(delete : box)
  return 0;
}
