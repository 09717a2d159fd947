/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of constructs that bring data, use it and take it home are handed over when they are created: the threads that
 * could run tasks are busy until the last region of each chain says that it has run. So no construct in front of that
 * may need one of them.
 *
 *   [KIBIBYTES [FORM]]      of each array: 4
 *
 * alone: the regions bring the data and take it home themselves. members, members_alone: pointers in structures lead to
 * the arrays, and the structures are mapped with them. present: as members, and all data has been mapped before.
 *
 * Covers: target enter data(map:to, nowait, depend), target exit data(map:from, nowait, depend),
 *   target(nowait, depend, map:tofrom), declare target
 */
#include "../device.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 6, kChains = 3, kThreads = 2, kSeconds = 200 };

typedef struct {
  int rounds, ints;
  int* a;
} Part;

static int* g_arrays[kChains];
static Part g_parts[kChains];
static char g_path[64];
static int g_alone, g_members, g_present;

#pragma omp declare target
static void work(int* a, int ints, int says, int process, int chain) {
  for (int i = 0; i < ints; i++)
    a[i] += i % 100 + 1; /* two of them side by side are no address of the cluster's memory */
  if (says) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/marline_data_%d_%d", process, chain);
    close(open(path, O_CREAT | O_WRONLY, 0600));
  }
}
#pragma omp end declare target

static void create_round(int* a, int ints, int says, int process, int chain) {
  (void)ints; /* GCC does not count its use in a map */
  if (!g_alone) {
#pragma omp target enter data map(to : a[0 : ints]) depend(inout : a[0]) nowait
  }
#pragma omp target nowait depend(inout : a[0]) map(tofrom : a[0 : ints])
  work(a, ints, says, process, chain);
  if (!g_alone) {
#pragma omp target exit data map(from : a[0 : ints]) depend(inout : a[0]) nowait
  }
}

static void create_round_of(Part* part, int says, int process, int chain) {
  int ints = part->ints;
  (void)ints;
  if (!g_alone && !g_present) {
#pragma omp target enter data map(to : part[0 : 1], part->a[0 : ints]) depend(inout : part[0]) nowait
  }
#ifdef __clang__
#pragma omp target nowait depend(inout : part[0]) map(tofrom : part[0 : 1], part -> a[0 : ints])
  {
    part->rounds++;
    work(part->a, part->ints, says, process, chain);
  }
#else /* GCC 12 gives a kernel the address of the last member that is mapped, so there must be no other one */
#pragma omp target nowait depend(inout : part[0]) map(tofrom : part -> a[0 : ints])
  work(part->a, ints, says, process, chain);
#endif
  if (!g_alone && !g_present) {
#pragma omp target exit data map(from : part[0 : 1], part->a[0 : ints]) depend(inout : part[0]) nowait
  }
}

static void create(int says, int process, int chain) {
  if (g_members)
    create_round_of(&g_parts[chain], says, process, chain);
  else
    create_round(g_arrays[chain], g_parts[chain].ints, says, process, chain);
}

/* True: the file has been there, and is no more. */
static int take_file(int process, int chain) {
  snprintf(g_path, sizeof g_path, "/tmp/marline_data_%d_%d", process, chain);
  return unlink(g_path) == 0;
}

static int wait_for_chains(int process) {
  int left = kChains, has_come[kChains] = {0};
  for (int tries = 0; left != 0 && tries < kSeconds * 1000; tries++) {
    for (int chain = 0; chain < kChains; chain++) {
      if (has_come[chain] || !take_file(process, chain)) continue;
      has_come[chain] = 1;
      left--;
    }
    usleep(1000);
  }
  return left == 0;
}

int main(int count, char** words) {
  int ints = (count > 1 ? atoi(words[1]) : 4) * 256, process = getpid(), is_over = 0;
  const char* form = count > 2 ? words[2] : "";
  g_alone = strcmp(form, "alone") == 0 || strcmp(form, "members_alone") == 0;
  g_present = strcmp(form, "present") == 0;
  g_members = g_present || strncmp(form, "members", 7) == 0;
  for (int chain = 0; chain < kChains; chain++) {
    g_arrays[chain] = malloc(sizeof(int) * (size_t)ints);
    for (int i = 0; i < ints; i++) g_arrays[chain][i] = chain;
    g_parts[chain] = (Part){10 * chain, ints, g_arrays[chain]};
  }
  if (!own_copies()) /* regions run on the program's own threads */
    return 0;
  for (int chain = 0; g_present && chain < kChains; chain++) {
    Part* part = &g_parts[chain];
    (void)part;
#pragma omp target enter data map(to : part[0 : 1], part->a[0 : ints])
  }
#pragma omp parallel num_threads(kThreads)
  {
#pragma omp single
    { /* the kernel is found, and has run */
      create(0, process, 0);
#pragma omp taskwait
    }
    if (omp_get_thread_num() == 0) {
      for (int round = 0; round < kRounds; round++)
        for (int chain = 0; chain < kChains; chain++) create(round == kRounds - 1, process, chain);
      CHECK(wait_for_chains(process));
      __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
    } else {
      while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) usleep(1000);
    }
#pragma omp barrier
  }
  for (int chain = 0; chain < kChains; chain++) {
    Part* part = &g_parts[chain];
    int rounds = kRounds + (chain == 0);
    if (g_present) {
#pragma omp target exit data map(from : part[0 : 1], part->a[0 : ints])
    }
    CHECK(part->a == g_arrays[chain]);
    CHECK_EQ(part->ints, ints);
#ifdef __clang__
    CHECK_EQ(part->rounds, 10 * chain + (g_members ? rounds : 0));
#endif
    for (int i = 0; i < ints; i++) CHECK_EQ(g_arrays[chain][i], chain + rounds * (i % 100 + 1));
    free(g_arrays[chain]);
  }
  return 0;
}
