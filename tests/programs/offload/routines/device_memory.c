/* SPDX-License-Identifier: Apache-2.0
 *
 * Routines that older compilers' omp.h does not declare, found by their names: fills of device memory, accessibility of
 * host memory, and LLVM's memory of devices, of the host and of both.
 *
 * Covers: omp_target_alloc, omp_target_free, omp_target_memcpy, omp_target_is_accessible,
 *  omp_target_memset, omp_target_memset_async
 */
#include "../device.h"

enum { kBytes = 100000 };

typedef void* (*Allocate)(size_t, int);
typedef void (*Release)(void*, int);

static int device, host;

static void* routine(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (!found) check_failed(__FILE__, __LINE__, "no %s", name);
  return found;
}

static void is_filled(const char* memory, int value, int from, int to) {
  static char back[kBytes];
  CHECK_EQ(omp_target_memcpy(back, memory, kBytes, 0, 0, host, device), 0);
  for (int i = from; i < to; i++) CHECK_EQ(back[i], value);
}

static void fills(void) {
  void* (*fill)(void*, int, size_t, int) = (void* (*)(void*, int, size_t, int))routine("omp_target_memset");
  void* (*fill_later)(void*, int, size_t, int, int, void**) =
      (void* (*)(void*, int, size_t, int, int, void**))routine("omp_target_memset_async");
  char *memory = omp_target_alloc(kBytes, device), own[10] = {0};
  CHECK(fill(memory, 7, kBytes, device) == memory);
  CHECK(fill(memory + 5000, 8, 10000, device) == memory + 5000);
  is_filled(memory, 7, 0, 5000);
  is_filled(memory, 8, 5000, 15000);
  is_filled(memory, 7, 15000, kBytes);
  CHECK(fill_later(memory, 9, kBytes, device, 0, NULL) == memory);
#pragma omp taskwait
  is_filled(memory, 9, 0, kBytes);
  CHECK(fill(own, 3, 5, host) == own);
  CHECK(own[4] == 3 && own[5] == 0);
  omp_target_free(memory, device);
}

/* Memory of a kind that the device does not have is a null pointer. */
static void memory_of(const char* allocate, const char* release, int on_host, int may_fail) {
  char* memory = ((Allocate)routine(allocate))(kBytes, device);
  CHECK(memory || may_fail);
  if (!memory) return;
  if (on_host) memset(memory, 4, kBytes);
  int sum = 0;
  if (!on_host || may_fail) { /* the device may use it */
#pragma omp target is_device_ptr(memory) map(from : sum) device(device)
    {
      if (!on_host)
        for (int i = 0; i < kBytes; i++) memory[i] = 4;
      sum = 0;
      for (int i = 0; i < kBytes; i++) sum += memory[i];
    }
  } else { /* it may be mapped, as any of the host's */
#pragma omp target map(to : memory[0 : kBytes]) map(from : sum) device(device)
    {
      sum = 0;
      for (int i = 0; i < kBytes; i++) sum += memory[i];
    }
  }
  CHECK_EQ(sum, 4 * kBytes);
  ((Release)routine(release))(memory, device);
}

/* LLVM 19 has no such routine. */
static void accessible(void) {
  const char* runtime = getenv("MARLINE_TEST_RUNTIME");
  if (runtime && strcmp(runtime, "stock") == 0) return;
  int (*is_accessible)(const void*, size_t, int) =
      (int (*)(const void*, size_t, int))routine("omp_target_is_accessible");
  int x = 1, seen = 0;
  CHECK_EQ(is_accessible(&x, sizeof x, host), 1);
  if (is_accessible(&x, sizeof x, device)) {
    int* address = &x;
#pragma omp target is_device_ptr(address) map(from : seen) device(device)
    seen = *address;
    CHECK_EQ(seen, 1);
  }
}

int main(void) {
  device = omp_get_num_devices() - 1;
  host = omp_get_initial_device();
  fills();
  memory_of("llvm_omp_target_alloc_device", "llvm_omp_target_free_device", 0, 0);
  memory_of("llvm_omp_target_alloc_host", "llvm_omp_target_free_host", 1, 0);
  memory_of("llvm_omp_target_alloc_shared", "llvm_omp_target_free_shared", 1, 1);
  accessible();
  return 0;
}
