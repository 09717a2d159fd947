/* SPDX-License-Identifier: Apache-2.0
 *
 * What code of GCC 13 to 16 asks of libgomp.so.1, called as that code calls it. The program is linked with a
 * libgomp.so.1 that has nothing but the names and version nodes of GCC 16's (tests/abi), so the loader asks for these
 * nodes, and the routines are bound at them. Clang has other routines by some of these names.
 *
 * Covers: task(depend:in/out), depobj(depend, destroy), entry points of other compilers,
 *  omp_target_memcpy_async, omp_target_memcpy_rect_async
 */
#include "../check.h"
#include <errno.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>

void GOMP_taskwait_depend_nowait(void** depend);
void GOMP_add_alloc(void* memory);
bool GOMP_is_alloc(void* memory);
void* GOMP_target_map_indirect_ptr(void* function);
void GOMP_interop(int device, int made, void*** make, const void* kinds, const void* preferred, int used, void** use,
                  int destroyed, void*** destroy, unsigned flags, void** depend);
int omp_target_memcpy_async(void* to, const void* from, size_t bytes, size_t to_offset, size_t from_offset,
                            int to_device, int from_device, int count, omp_depend_t* objects);
int omp_target_memcpy_rect_async(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                                 const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                                 const size_t* from_extents, int to_device, int from_device, int count,
                                 omp_depend_t* objects);
void* omp_target_memset_async(void* pointer, int value, size_t bytes, int device, int count, omp_depend_t* objects);
const char* omp_get_uid_from_device(int device);
int omp_get_device_from_uid(const char* uid);
void omp_get_uid_from_device_(const char** text, size_t* length, int32_t device);
void omp_get_uid_from_device_8_(const char** text, size_t* length, int64_t device);

static int load(int* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
static void store(int* word, int value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

/* x -> taskwait -> y, and the creator goes on at once: it alone lets the first task end. */
static void dependent_taskwait(void) {
  int x = 0, y = 0, go = 0, seen = -1;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x, go)
    {
      while (!load(&go)) {
#pragma omp taskyield
      }
      x = 1;
    }
    void* depend[] = {(void*)2, (void*)1, &y, &x};
    GOMP_taskwait_depend_nowait(depend);
#pragma omp task depend(in : y) shared(x, y, seen)
    seen = x;
    store(&go, 1);
  }
  CHECK_EQ(seen, 1);
}

/* Each copy is between a task that writes and one that reads, by a list of one to three depend objects. */
static void copies(int objects) {
  enum { kRow = 8, kRows = 4 };
  int host = omp_get_initial_device(), keys[3], seen = 0;
  char from[kRows][kRow], to[kRows][kRow];
  omp_depend_t list[3];
  (void)keys; /* only their addresses are used */
#pragma omp depobj(list[0]) depend(inout : keys[0])
#pragma omp depobj(list[1]) depend(inout : keys[1])
#pragma omp depobj(list[2]) depend(inout : keys[2])
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp task depend(out : keys[0]) shared(from)
    {
      usleep(2000);
      memset(from, 'a', sizeof from);
    }
    CHECK_EQ(omp_target_memcpy_async(to, from, kRow, kRow, 0, host, host, objects, list), 0);
    size_t volume[] = {2, 3}, to_at[] = {2, 1}, from_at[] = {0, 0}, extents[] = {kRows, kRow};
    CHECK_EQ(omp_target_memcpy_rect_async(to, from, 1, 2, volume, to_at, from_at, extents, extents, host, host, objects,
                                          list),
             0);
    memset(volume, 0, sizeof volume); /* the routine has its own copy */
    CHECK(omp_target_memset_async(to[2], 'b', 2, host, objects, list) == to[2]);
#pragma omp task depend(in : keys[objects - 1]) shared(to, seen)
    {
      CHECK(memcmp(to[1], "aaaaaaaa", kRow) == 0);
      CHECK(memcmp(to[2], "bbaa", 4) == 0);
      CHECK(memcmp(to[3] + 1, "aaa", 3) == 0);
      seen = 1;
    }
#pragma omp taskwait
  }
  CHECK_EQ(seen, 1);
  CHECK_EQ(omp_target_memcpy_async(to, from, 1, 0, 0, host + 7, host, 0, NULL), EINVAL);
  CHECK(omp_target_memcpy_rect_async(NULL, NULL, 1, 0, NULL, NULL, NULL, NULL, NULL, host, host, 0, NULL) >= 3);
#pragma omp depobj(list[0]) destroy
#pragma omp depobj(list[1]) destroy
#pragma omp depobj(list[2]) destroy
}

/* Addresses come and go at random, beside a table that says which are there. */
static void scalars(void) {
  enum { kScalars = 1000 };
  static char memory[16 * kScalars];
  static bool there[kScalars];
  unsigned random = 12345;
  for (int step = 0; step < 20000; step++) {
    random = random * 1103515245u + 12345;
    int i = (int)(random >> 16) % kScalars;
    if (random & 0x8000 && !there[i]) {
      GOMP_add_alloc(memory + 16 * i);
      there[i] = true;
    } else {
      CHECK_EQ(GOMP_is_alloc(memory + 16 * i), there[i]);
      there[i] = false;
    }
  }
  for (int i = 0; i < kScalars; i++) CHECK_EQ(GOMP_is_alloc(memory + 16 * i), there[i]);
}

/* Objects of the host are omp_interop_none; the construct waits for its dependences. */
static void interop(void) {
  void *first = (void*)5, *second = (void*)6, **made[] = {&first}, **destroyed[] = {&second};
  int kinds[] = {3}, x = 0;
  void* depend[] = {(void*)1, (void*)1, &x};
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : x) shared(x)
    {
      usleep(2000);
      store(&x, 1);
    }
    GOMP_interop(-5, 1, made, kinds, NULL, 0, NULL, 1, destroyed, 1, depend);
    CHECK_EQ(load(&x), 1);
  }
  CHECK(first == NULL && second == NULL);
}

static void names_of_devices(void) {
  const char *text = NULL, *again = NULL;
  size_t length = 99, length_again = 99;
  int host = omp_get_initial_device();
  omp_get_uid_from_device_(&text, &length, host);
  omp_get_uid_from_device_8_(&again, &length_again, host);
  CHECK(text != NULL && length == strlen(text) && length > 0);
  CHECK(strcmp(text, omp_get_uid_from_device(host)) == 0 && strcmp(text, again) == 0 && length == length_again);
  CHECK_EQ(omp_get_device_from_uid(text), host);
  omp_get_uid_from_device_(&text, &length, host + 3);
  CHECK(text == NULL && length == 0);
}

int main(void) {
  dependent_taskwait();
  for (int objects = 1; objects <= 3; objects++) copies(objects);
  scalars();
  interop();
  names_of_devices();
  CHECK(GOMP_target_map_indirect_ptr((void*)main) == (void*)main);
  return 0;
}
