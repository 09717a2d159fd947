/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_atomic [ordered]. Regions without an order raise one counter by `atomic`, which does not reach other
 * nodes; with `ordered`, one runs after the other. Each writes a cell of its own beside it, as all race-free programs
 * may.
 */
#include <stdio.h>
#include <unistd.h>

enum { kRegions = 8 };
static long cells[1 + kRegions];

static void raise(int is_ordered) {
  for (int i = 1; i <= kRegions; ++i) {
    if (is_ordered) {
#pragma omp target nowait map(tofrom : cells) depend(mutexinoutset : cells[0]) depend(out : cells[i])
      {
        usleep(20000);
#pragma omp atomic
        cells[0] += 1;
        cells[i] = i;
      }
    } else {
#pragma omp target nowait map(tofrom : cells)
      {
        usleep(20000);
#pragma omp atomic
        cells[0] += 1;
        cells[i] = i;
      }
    }
  }
#pragma omp taskwait
}

int main(int count, char** words) {
  (void)words;
#pragma omp target enter data map(to : cells)
#pragma omp parallel
#pragma omp single
  raise(count > 1);
#pragma omp target exit data map(from : cells)
  int good = 1;
  for (int i = 1; i <= kRegions; ++i) good &= cells[i] == i;
  printf("good=%d counted=%d\n", good, cells[0] == kRegions);
  return 0;
}
