/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that go to the devices in turn, are worked on by two kernels each, and come back; all by tasks that
 * dependences order. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlocks = 8, kCount = 1 << 18, kRounds = 30 };

static void work(double* block, int device) {
#pragma omp target map(to : block[0 : kCount]) device(device) depend(inout : block[0]) nowait
  for (int r = 0; r < kRounds; r++)
    for (int i = 0; i < kCount; i++) block[i] = block[i] * 0.5 + 1;
}

static void finish(double* block, int device) {
#pragma omp target map(to : block[0 : kCount]) device(device) depend(inout : block[0]) nowait
  for (int r = 0; r < kRounds / 2; r++)
    for (int i = 0; i < kCount; i++) block[i] = block[i] * 2 - 1;
}

int main(void) {
  int devices = omp_get_num_devices();
  double* blocks[kBlocks];
  for (int b = 0; b < kBlocks; b++) {
    blocks[b] = malloc(kCount * sizeof(double));
    for (int i = 0; i < kCount; i++) blocks[b][i] = 2;
  }
#pragma omp parallel
#pragma omp single
  for (int b = 0; b < kBlocks; b++) {
    double* block = blocks[b];
    int device = b % devices;
#pragma omp target enter data map(to : block[0 : kCount]) device(device) depend(out : block[0]) nowait
    work(block, device);
    finish(block, device);
#pragma omp target exit data map(from : block[0 : kCount]) device(device) depend(inout : block[0]) nowait
  }
  double sum = 0;
  for (int b = 0; b < kBlocks; b++) sum += blocks[b][b];
  printf("devices %d sum %g\n", devices, sum);
  return 0;
}
