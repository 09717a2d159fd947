/* SPDX-License-Identifier: Apache-2.0
 *
 * Routines about the memory of devices: allocation, copies in one and in more dimensions between all pairs of host and
 * devices, association of host memory with device memory, and questions about addresses.
 *
 * Covers: omp_target_alloc, omp_target_free, omp_target_memcpy, omp_target_memcpy_rect, omp_target_is_present,
 *  omp_target_associate_ptr, omp_target_disassociate_ptr, omp_get_mapped_ptr
 * Covers (clang22): omp_target_is_accessible
 */
#include "../device.h"

#define N 60

static int host;

static void copies(int to, int from) {
  int in[N], out[N];
  for (int i = 0; i < N; i++) {
    in[i] = i;
    out[i] = -1;
  }
  int *a = omp_target_alloc(sizeof in, from), *b = omp_target_alloc(sizeof in, to);
  CHECK(a && b);
  CHECK_EQ(omp_target_memcpy(a, in, sizeof in, 0, 0, from, host), 0);
  CHECK_EQ(omp_target_memcpy(b, in, sizeof in, 0, 0, to, host), 0);
  /* Ten integers, from the 5th on, to the place of the 20th. */
  CHECK_EQ(omp_target_memcpy(b, a, 10 * sizeof(int), 20 * sizeof(int), 5 * sizeof(int), to, from), 0);
  CHECK_EQ(omp_target_memcpy(out, b, sizeof out, 0, 0, host, to), 0);
  for (int i = 0; i < N; i++) CHECK_EQ(out[i], i >= 20 && i < 30 ? i - 15 : i);
  omp_target_free(a, from);
  omp_target_free(b, to);
}

/* A block of 2 x 3 x 4 out of 5 x 6 x 7 into another place of 4 x 5 x 6. */
static void blocks(int to, int from) {
  static int in[5][6][7], out[4][5][6];
  size_t volume[3] = {2, 3, 4}, to_offsets[3] = {1, 2, 1}, from_offsets[3] = {3, 2, 2};
  size_t to_sizes[3] = {4, 5, 6}, from_sizes[3] = {5, 6, 7};
  for (int i = 0; i < 5 * 6 * 7; i++) ((int*)in)[i] = i;
  memset(out, -1, sizeof out);
  void *a = omp_target_alloc(sizeof in, from), *b = omp_target_alloc(sizeof out, to);
  CHECK_EQ(omp_target_memcpy(a, in, sizeof in, 0, 0, from, host), 0);
  CHECK_EQ(omp_target_memcpy(b, out, sizeof out, 0, 0, to, host), 0);
  CHECK_EQ(
      omp_target_memcpy_rect(b, a, sizeof(int), 3, volume, to_offsets, from_offsets, to_sizes, from_sizes, to, from),
      0);
  CHECK_EQ(omp_target_memcpy(out, b, sizeof out, 0, 0, host, to), 0);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++)
      for (int k = 0; k < 6; k++) {
        int inside = i >= 1 && i < 3 && j >= 2 && k >= 1 && k < 5;
        CHECK_EQ(out[i][j][k], inside ? in[i + 2][j][k + 1] : -1);
      }
  /* Both addresses null: how many dimensions there may be. */
  CHECK(omp_target_memcpy_rect(NULL, NULL, 1, 3, NULL, NULL, NULL, NULL, NULL, to, from) >= 3);
  omp_target_free(a, from);
  omp_target_free(b, to);
}

/* One dimension, and bytes as elements. */
static void flat_blocks(int device) {
  char in[32], out[32] = {0};
  for (int i = 0; i < 32; i++) in[i] = (char)i;
  void* a = omp_target_alloc(32, device);
  size_t volume = 8, to_offset = 4, from_offset = 10, size = 32, zero = 0;
  CHECK_EQ(omp_target_memcpy(a, out, 32, 0, 0, device, host), 0);
  CHECK_EQ(omp_target_memcpy_rect(a, in, 1, 1, &volume, &to_offset, &from_offset, &size, &size, device, host), 0);
  CHECK_EQ(omp_target_memcpy_rect(out, a, 1, 1, &size, &zero, &zero, &size, &size, host, device), 0);
  for (int i = 0; i < 32; i++) CHECK_EQ(out[i], i >= 4 && i < 12 ? i + 6 : 0);
  omp_target_free(a, device);
}

/* Associated memory is mapped until it is disassociated, without a transfer of its own. */
static void association(int device) {
  int object[N], seen = 0;
  for (int i = 0; i < N; i++) object[i] = i;
  int* memory = omp_target_alloc(2 * sizeof object, device);
  CHECK_EQ(omp_target_is_present(object, device), 0);
  CHECK(omp_get_mapped_ptr(object, device) == NULL);
  CHECK_EQ(omp_target_associate_ptr(object, memory, sizeof object, N * sizeof(int), device), 0);
  CHECK(omp_target_is_present(object, device));
  CHECK(omp_target_is_present(object + N - 1, device));
  CHECK(omp_get_mapped_ptr(object + 2, device) == memory + N + 2);
#pragma omp target update to(object) device(device)
#pragma omp target map(tofrom : object) map(from : seen) device(device)
  {
    seen = object[5];
    object[5] = 55;
  }
  CHECK_EQ(seen, 5);
  CHECK_EQ(object[5], 5); /* no count reached zero */
#pragma omp target map(always, from : object) device(device)
  object[6] = 66;
  CHECK_EQ(object[5], 55);
  CHECK_EQ(object[6], 66);
  CHECK_EQ(omp_target_disassociate_ptr(object, device), 0);
  CHECK_EQ(omp_target_is_present(object, device), 0);
  CHECK(omp_target_disassociate_ptr(object, device) != 0);
  int back[N];
  CHECK_EQ(omp_target_memcpy(back, memory, sizeof back, 0, N * sizeof(int), host, device), 0);
  CHECK_EQ(back[6], 66);
  /* The same memory can serve another object. */
  CHECK_EQ(omp_target_associate_ptr(&seen, memory, sizeof seen, 0, device), 0);
#pragma omp target map(always, tofrom : seen) device(device)
  seen++;
  CHECK_EQ(seen, 6);
  CHECK_EQ(omp_target_disassociate_ptr(&seen, device), 0);
  omp_target_free(memory, device);
}

static void presence(int device) {
  char block[100];
  CHECK_EQ(omp_target_is_present(block + 10, device), 0);
#pragma omp target enter data map(alloc : block[10 : 20]) device(device)
  CHECK_EQ(omp_target_is_present(block + 9, device), 0);
  CHECK(omp_target_is_present(block + 10, device));
  CHECK(omp_target_is_present(block + 29, device));
  CHECK_EQ(omp_target_is_present(block + 30, device), 0);
  char* first = omp_get_mapped_ptr(block + 10, device);
  CHECK(first && omp_get_mapped_ptr(block + 29, device) == first + 19);
  CHECK(omp_get_mapped_ptr(block + 30, device) == NULL);
#pragma omp target exit data map(delete : block[10 : 20]) device(device)
  CHECK_EQ(omp_target_is_present(block + 10, device), 0);
  CHECK(omp_get_mapped_ptr(block, host) == block);
  CHECK(omp_target_is_present(block, host));
#if __clang_major__ >= 22
  CHECK(omp_target_is_accessible(block, sizeof block, host));
#endif
}

int main(void) {
  host = omp_get_initial_device();
  int devices = omp_get_num_devices();
  CHECK(devices > 0);
  for (int d = 0; d < devices; d++) {
    copies(d, d);
    copies(d, host);
    copies(host, d);
    copies(d, (d + 1) % devices);
    blocks(d, d);
    blocks(d, host);
    blocks(host, d);
    blocks(d, (d + 1) % devices);
    flat_blocks(d);
    association(d);
    presence(d);
  }
  copies(host, host);
  blocks(host, host);
  return 0;
}
