/* SPDX-License-Identifier: Apache-2.0
 *
 * See exchange.h. No state.
 */
#include "exchange.h"

int exchange_messages(int ranks, int rank, int planes, int iteration, Message messages[kMostMessages]) {
  int count = 0;
  for (int turn = 0; turn < 2; ++turn) {
    const bool upper = rank % 2 != turn; /* the neighbour of this turn is above */
    const int neighbour = upper ? rank - 1 : rank + 1;
    if (neighbour < 0 || neighbour >= ranks) {
      continue;
    }
    for (int half = 0; half < 2; ++half) {
      const bool upwards = half == 1;
      messages[count++] = (Message){upwards == upper, upper, neighbour, 2 * (iteration % planes) + upwards};
    }
  }
  return count;
}
