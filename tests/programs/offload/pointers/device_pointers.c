/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of the device in host code: of mapped data by use_device_ptr and use_device_addr, of allocated memory; and
 * their way back into regions.
 *
 * Covers: target data(use_device_ptr, use_device_addr), target(is_device_ptr), omp_get_mapped_ptr, omp_target_alloc,
 *  omp_target_free, omp_target_memcpy
 * Covers (clang19): target(has_device_addr)
 */
#include "../device.h"

#define N 40

static void add_to(int* device_memory, int n, int what) {
#pragma omp target is_device_ptr(device_memory)
  for (int i = 0; i < n; i++) device_memory[i] += what;
}

static void allocated(void) {
  int device = omp_get_default_device(), host = omp_get_initial_device(), data[N];
  for (int i = 0; i < N; i++) data[i] = i;
  int *first = omp_target_alloc(sizeof data, device), *second = omp_target_alloc(sizeof data, device);
  CHECK(first && second && first != second);
  CHECK_EQ(omp_target_memcpy(first, data, sizeof data, 0, 0, device, host), 0);
#pragma omp target is_device_ptr(first, second)
  for (int i = 0; i < N; i++) second[i] = first[i] + 1;
  add_to(second, N, 10);
  add_to(second + N / 2, N / 2, 100); /* an address inside the block */
  int back[N];
  CHECK_EQ(omp_target_memcpy(back, second, sizeof back, 0, 0, host, device), 0);
  for (int i = 0; i < N; i++) CHECK_EQ(back[i], i + 11 + (i < N / 2 ? 0 : 100));
  /* The same in a region by its value, with firstprivate. */
  int sum = 0;
#pragma omp target firstprivate(second) map(tofrom : sum)
  for (int i = 0; i < N; i++) sum += second[i];
  CHECK_EQ(sum, N * (N - 1) / 2 + 11 * N + 100 * N / 2);
  omp_target_free(first, device);
  omp_target_free(second, device);
  omp_target_free(NULL, device);
}

static void of_mapped_data(void) {
  int data[N] = {0}, *p = data, *q = data + 5;
#pragma omp target data map(tofrom : data) use_device_ptr(p, q)
  {
    CHECK_COPY(p != data, 1, 0);
    CHECK(p + 5 == q);
    CHECK(own_copies() == 0 || p == omp_get_mapped_ptr(data, omp_get_default_device()));
    add_to(p, N, 3);
    add_to(q, 1, 20);
  }
  CHECK(p == data && q == data + 5);
  CHECK_EQ(data[0], 3);
  CHECK_EQ(data[5], 23);
  /* The section's base is what the pointer points to, also when the section begins later. */
#pragma omp target data map(tofrom : p[10 : 20]) use_device_ptr(p)
  add_to(p + 10, 20, 100);
  CHECK_EQ(data[9], 3);
  CHECK_EQ(data[10], 103);
  CHECK_EQ(data[29], 103);
  CHECK_EQ(data[30], 3);
  /* Mapped before: the clause alone finds it. */
#pragma omp target enter data map(to : data)
#pragma omp target data use_device_ptr(p)
  {
    CHECK_COPY(p != data, 1, 0);
    add_to(p, N, 1);
  }
#pragma omp target exit data map(from : data)
  CHECK_EQ(data[0], 4);
}

static void add_behind(int* device_memory) {
#pragma omp target is_device_ptr(device_memory)
  *device_memory += 5;
}

static void addresses(void) {
  int scalar = 1, array[N] = {0};
  int *host_scalar = &scalar, *host_array = array;
#pragma omp target data map(tofrom : scalar, array) use_device_addr(scalar, array)
  {
    CHECK_COPY(&scalar != host_scalar, 1, 0);
    CHECK_COPY(array != host_array, 1, 0);
    add_behind(&scalar);
    add_behind(&array[7]);
  }
  CHECK_EQ(scalar, 6);
  CHECK_EQ(array[7], 5);
#if defined(__clang__) && __clang_major__ >= 19
#pragma omp target data map(tofrom : scalar, array) use_device_addr(scalar, array)
  {
#pragma omp target has_device_addr(scalar, array)
    {
      scalar = 60;
      array[8] = scalar + 1;
    }
  }
  CHECK_EQ(scalar, 60);
  CHECK_EQ(array[8], 61);
#endif
}

/* Sections and pointers in members. */
typedef struct {
  int* data;
  int n;
} Holder;

static void members(void) {
  int data[N] = {0};
  Holder h = {data, N};
#pragma omp target enter data map(to : h) map(to : h.data[0 : N])
  int* mapped = omp_get_mapped_ptr(data, omp_get_default_device());
  CHECK_COPY(mapped != NULL && mapped != data, 1, 0);
  if (own_copies()) {
    add_to(mapped, N, 2);
    CHECK(omp_get_mapped_ptr(data + 3, omp_get_default_device()) == mapped + 3);
  }
#pragma omp target exit data map(from : h.data[0 : N])
#pragma omp target exit data map(release : h)
  CHECK_COPY(data[N - 1], 2, 0);
  CHECK_COPY(omp_get_mapped_ptr(data, omp_get_default_device()) == NULL, 1, 0);
}

int main(void) {
  allocated();
  of_mapped_data();
  addresses();
  members();
  return 0;
}
