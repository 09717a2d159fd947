/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills that are tasks of their own: ordered by dependence objects with tasks and regions, or waited for.
 *
 * Covers: omp_target_memcpy_async, omp_target_memcpy_rect_async, depobj, taskwait
 */
#include "../device.h"

#define N 500

int main(void) {
  int device = 0, host = omp_get_initial_device(), in[N], out[N] = {0}, grid[10][20], back[10][20];
  int *memory = omp_target_alloc(sizeof in, device), *rectangle = omp_target_alloc(sizeof grid, device);
  for (int i = 0; i < N; i++) in[i] = -1;
  for (int i = 0; i < 200; i++) grid[i / 20][i % 20] = i;
  memset(back, 0, sizeof back);
#pragma omp parallel
#pragma omp single
  {
    omp_depend_t reads_in, memory_is_written, out_is_written[2];
#pragma omp depobj(reads_in) depend(in : in)
#pragma omp depobj(memory_is_written) depend(inout : memory[0 : N])
#pragma omp depobj(out_is_written[0]) depend(in : memory[0 : N])
#pragma omp depobj(out_is_written[1]) depend(out : out)
#pragma omp task depend(out : in) shared(in)
    for (int i = 0; i < N; i++) in[i] = i;
    omp_depend_t copy[2] = {reads_in, memory_is_written};
    CHECK_EQ(omp_target_memcpy_async(memory, in, sizeof in, 0, 0, device, host, 2, copy), 0);
#pragma omp target nowait is_device_ptr(memory) device(0) depend(inout : memory[0 : N])
    for (int i = 0; i < N; i++) memory[i] += 1;
    CHECK_EQ(omp_target_memcpy_async(out, memory, sizeof out, 0, 0, host, device, 2, out_is_written), 0);
    int seen = 0;
#pragma omp task depend(in : out) shared(seen, out)
    for (int i = 0; i < N; i++) seen += out[i] == i + 1;
#pragma omp taskwait
    CHECK_EQ(seen, N);
    size_t volume[2] = {4, 5}, to[2] = {2, 3}, from[2] = {1, 1}, zero[2] = {0, 0}, sizes[2] = {10, 20};
    CHECK_EQ(omp_target_memcpy_rect_async(rectangle, grid, sizeof(int), 2, sizes, zero, zero, sizes, sizes, device,
                                          host, 0, NULL),
             0);
#pragma omp taskwait
    CHECK_EQ(omp_target_memcpy_rect_async(back, rectangle, sizeof(int), 2, volume, to, from, sizes, sizes, host, device,
                                          0, NULL),
             0);
#pragma omp taskwait
    for (int i = 0; i < 10; i++)
      for (int j = 0; j < 20; j++) {
        int inside = i >= 2 && i < 6 && j >= 3 && j < 8;
        CHECK_EQ(back[i][j], inside ? grid[i - 1][j - 2] : 0);
      }
#pragma omp depobj(reads_in) destroy
#pragma omp depobj(memory_is_written) destroy
#pragma omp depobj(out_is_written[0]) destroy
#pragma omp depobj(out_is_written[1]) destroy
  }
  omp_target_free(memory, device);
  omp_target_free(rectangle, device);
  return 0;
}
