/* SPDX-License-Identifier: Apache-2.0
 *
 * A persistent graph of 16 regions, all of one construct, of which one takes ten times as long as each other. Prints whether the results
 * are right, and how much the busiest process has had to do in the last iteration: ten for the long region, one for
 * each other; half of all is 12.5. */
#include <marline/marline.h>
#include <stdio.h>
#include <unistd.h>

enum { kRegions = 16, kLong = 5, kIterations = 8, kUnit = 10000 };

static long cells[kRegions][2]; /* iterations, and the process of the last one */

int main(void) {
#pragma omp target enter data map(to : cells)
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, MARLINE_GRAPH_BARRIER) {
    for (int i = 0; i < kRegions; i++) {
      long *cell = cells[i], time = i == kLong ? 10 * kUnit : kUnit;
#pragma omp target nowait depend(inout : cell[0]) map(tofrom : cell[0 : 2]) firstprivate(time)
      {
        usleep(time);
        cell[0]++;
        cell[1] = getpid();
      }
    }
  }
#pragma omp target exit data map(from : cells)
  int good = 1, most = 0;
  for (int i = 0; i < kRegions; i++) {
    int units = 0;
    for (int k = 0; k < kRegions; k++)
      units += cells[k][1] != cells[i][1] ? 0 : k == kLong ? 10 : 1;
    most = units > most ? units : most;
    good = good && cells[i][0] == kIterations;
  }
  printf("good=%d\nmost=%d\n", good, most);
  return 0;
}
