/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_groups FILE. One thread creates regions with a megabyte of data each, in chains, each region right
 * after the other, so that they are placed together. Then it creates regions without successors: the first takes 4 s,
 * which the runtime knows of its kernel, and the others make the file. Then the thread computes without a call of the
 * runtime's until the file is there, or for 3 s. Prints whether all results are right, and whether the file came. */
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kChains = 8, kLinks = 40, kCells = 1 << 17, kFew = 7 };

static long cells[kChains][kCells];
static char made[256];

static void add(int chain, int microseconds, int makes) {
  long* at = cells[chain];
#pragma omp target nowait depend(inout : at[0]) map(tofrom : at[0 : kCells]) map(to : made) \
    firstprivate(chain, makes, microseconds)
  {
    usleep(microseconds);
    at[chain] = 3 * at[chain] + 1;
    if (makes) fclose(fopen(made, "w"));
  }
}

/* Takes longer than the runtime expects of other regions, so that they are not placed after this one. */
static void rest(int chain, int microseconds) {
  long* at = cells[chain];
#pragma omp target nowait depend(inout : at[0]) map(tofrom : at[0 : kCells]) firstprivate(chain, microseconds)
  {
    usleep(microseconds);
    at[chain] = 3 * at[chain] + 1;
  }
}

static int is_there(double seconds) {
  double begin = omp_get_wtime();
  while (omp_get_wtime() - begin < seconds) {
    if (access(made, F_OK) == 0) return 1;
  }
  return 0;
}

int main(int count, char** words) {
  int early = 0, good = 1;
  strncpy(made, words[count - 1], sizeof made - 1);
#pragma omp target enter data map(to : cells, made)
#pragma omp parallel
#pragma omp single
  {
    rest(0, 500000);
#pragma omp taskwait
    for (int link = 0; link < kLinks; link++)
      for (int chain = 0; chain < kChains; chain++) add(chain, 500, 0);
#pragma omp taskwait
    rest(0, 4000000);
    for (int chain = 1; chain < kFew; chain++) add(chain, 500, 1);
    early = is_there(3);
  }
#pragma omp target exit data map(from : cells) map(release : made)
  for (int chain = 0; chain < kChains; chain++) {
    long expected = 0;
    for (int link = 0; link < kLinks + (chain == 0) + (chain < kFew); link++) expected = 3 * expected + 1;
    good = good && cells[chain][chain] == expected && cells[chain][kCells - 1] == 0;
  }
  printf("good=%d\nearly=%d\n", good, early);
  return 0;
}
