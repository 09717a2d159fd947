/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_uneven MODE ITERATIONS MICROSECONDS FROM. A persistent graph of 16 regions, all of one construct,
 * which take that time, but one of them ten times as long, from that iteration on. Prints whether the results are
 * right, and how much the busiest process has had to do in the last iteration: ten for the long region, one for each
 * other; half of all is 12.5. */
#include <marline/marline.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kRegions = 16, kLong = 5 };

static long cells[kRegions][2]; /* iterations, and the process of the last one */

int main(int count, char** words) {
  if (count != 5) return 2;
  int mode = atoi(words[1]), iterations = atoi(words[2]), unit = atoi(words[3]), from = atoi(words[4]);
#pragma omp target enter data map(to : cells)
#pragma omp parallel
#pragma omp single
  MARLINE_GRAPH_FOR(int it = 0, it < iterations, ++it, mode) {
    for (int i = 0; i < kRegions; i++) {
      long *cell = cells[i], time = i == kLong && it >= from ? 10 * unit : unit;
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
    for (int k = 0; k < kRegions; k++) units += cells[k][1] != cells[i][1] ? 0 : k == kLong ? 10 : 1;
    most = units > most ? units : most;
    good = good && cells[i][0] == iterations;
  }
  printf("good=%d\nmost=%d\n", good, most);
  return 0;
}
