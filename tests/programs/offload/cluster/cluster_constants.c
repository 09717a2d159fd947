/* SPDX-License-Identifier: Apache-2.0
 *
 * Variables that no code can write: a constant table, and the one that GCC makes of a switch, which it lists among the
 * variables of `declare target`. Where they lie there is no write, not even of the same bytes.
 *
 * Covers: target(map:from), declare target(to)
 */
#include "../device.h"

#pragma omp declare target
const double weights[5] = {0.5, 2, 8, 32, 128};

static int price_of(int kind) {
  switch (kind) {
    case 0: return 7;
    case 1: return 1;
    case 2: return 40;
    case 3: return 12;
    case 4: return 3;
    case 5: return 29;
    default: return -1;
  }
}
#pragma omp end declare target

int main(void) {
  double sum = 0;
  int prices = 0;
  /* Several, as they run on the nodes of a cluster in turns. */
  for (int round = 0; round < 4; round++) {
#pragma omp target map(tofrom : sum, prices)
    {
      for (int i = 0; i < 5; i++) sum += weights[(i + round) % 5];
      for (int i = 0; i < 8; i++) prices += price_of((i + round) % 8);
    }
  }
  CHECK_EQ(sum, 4 * 170.5);
  CHECK_EQ(prices, 4 * (92 - 2));
  return 0;
}
