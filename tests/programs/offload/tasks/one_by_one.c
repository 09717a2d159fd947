/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions that a program waits for one by one run on threads that stay: each parallel region in them has the same
 * threads, as on the host, and no thread is woken from a pool. Regions in between that run beside each other change
 * nothing in that when they are over. All values are right meanwhile.
 *
 * Covers: target(map:tofrom, nowait, depend), target enter data(map:to), target exit data(map:from), parallel
 */
#include "../device.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The device's first thread runs regions again after 16 that came one by one; 32 and then 64 if it was mistaken before,
 * and on a busy machine the 60 regions that run beside each other can look like that twice. On each of three nodes. */
enum { kMostThreads = 16, kMostProcesses = 8, kCells = 6, kUntilAlone = 3 * 64 };

typedef struct {
  int process, threads;
  int thread[kMostThreads];
} Seen;

typedef struct {
  int process, most, count;
  int thread[64];
} Process;

static Process g_processes[kMostProcesses];

static Process* process_of(int number) {
  int p = 0;
  while (p < kMostProcesses - 1 && g_processes[p].process != 0 && g_processes[p].process != number) p++;
  g_processes[p].process = number;
  return &g_processes[p];
}

static void note(const Seen* seen) {
  Process* process = process_of(seen->process);
  if (seen->threads > process->most) process->most = seen->threads;
  for (int i = 0; i < seen->threads; i++) {
    int at = 0;
    while (at < process->count && process->thread[at] != seen->thread[i]) at++;
    if (at == process->count && at < 64) process->thread[process->count++] = seen->thread[i];
  }
}

static void one(int* value, int notes) {
  Seen seen = {0, 0, {0}};
#pragma omp target map(tofrom : seen, value[0 : 1])
  {
    seen.process = getpid();
#pragma omp parallel
    {
      int number = omp_get_thread_num();
      if (number < kMostThreads) seen.thread[number] = (int)syscall(SYS_gettid);
#pragma omp single
      seen.threads = omp_get_num_threads();
#pragma omp atomic
      value[0]++;
    }
    value[0] += 1000 - seen.threads;
  }
  if (notes) note(&seen);
}

static void beside(int* cells, int rounds) {
#pragma omp parallel
#pragma omp single
  for (int r = 0; r < rounds; r++)
    for (int c = 0; c < kCells; c++) {
      int* cell = &cells[c];
#pragma omp target nowait depend(inout : cell[0]) map(tofrom : cell[0 : 1])
      {
        int sum = 0;
#pragma omp parallel reduction(+ : sum)
        sum += omp_get_thread_num() == 0 ? 1000 : 0;
        cell[0] += sum;
      }
    }
}

int main(void) {
  int cells[kCells] = {0}, *value = &cells[0];
#pragma omp target enter data map(to : cells)
  for (int i = 0; i < 100; i++) one(value, 1);
  for (int turn = 0; turn < 3; turn++) {
    beside(cells, 10);
    for (int i = 0; i < kUntilAlone; i++) one(value, 0);
    for (int i = 0; i < 30; i++) one(value, 1);
  }
#pragma omp target exit data map(from : cells)
  CHECK_EQ(cells[0], 1000 * (100 + 3 * (10 + kUntilAlone + 30)));
  for (int c = 1; c < kCells; c++) CHECK_EQ(cells[c], 1000 * 3 * 10);
  for (int p = 0; p < kMostProcesses; p++) CHECK_EQ(g_processes[p].count <= g_processes[p].most, 1);
  return 0;
}
