/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's own operations in the stream of an interoperability object, ordered with target tasks by dependences:
 * they begin after the tasks before the construct, and tasks after the next construct begin after them (OpenMP 5.2,
 * section 14.1). Each operation takes MARLINE_EMULATOR_LATENCY, so a wrong order gives a wrong result. While a
 * construct waits for the stream, the thread runs other tasks.
 *
 * Covers: interop, omp_get_interop_ptr
 */
#include "emulated.h"

enum { kItems = 1024, kHalf = kItems / 2, kRounds = 3, kFills = 5 };

typedef int (*fill_t)(unsigned long long, unsigned, size_t, void*); /* cuMemsetD32Async */

static int data[kItems];
static _Atomic int others, others_seen;

static void other_task(void) {
#pragma omp task
  others++;
}

/* The last fill is the one that counts. */
static void fill_slowly(fill_t fill, unsigned long long at, int value, size_t count, void* stream) {
  for (int i = kFills - 1; i >= 0; i--) CHECK_EQ(fill(at, (unsigned)(value + i), count, stream), 0);
}

/* A region, the program's own fill, a region, a fill, and the end of the object. */
static void run(fill_t fill, int round) {
  omp_interop_t object = omp_interop_none;
  unsigned long long at = 0;
#pragma omp target data use_device_addr(data)
  at = (unsigned long long)data;
#pragma omp target nowait depend(inout : data) map(data) firstprivate(round)
  for (int i = 0; i < kItems; i++) data[i] = round;
#pragma omp interop init(targetsync : object) device(0) depend(inout : data)
  void* stream = omp_get_interop_ptr(object, omp_ipr_targetsync, NULL);
  CHECK(stream != NULL);
  fill_slowly(fill, at + kHalf * sizeof(int), 100, kHalf, stream);
  other_task();
#pragma omp interop use(object) device(0) depend(inout : data)
  others_seen += others > round;
#pragma omp target nowait depend(inout : data) map(data)
  for (int i = 0; i < kItems; i++) data[i]++;
#pragma omp interop use(object) device(0) depend(inout : data)
  fill_slowly(fill, at, 200, 1, stream);
#pragma omp interop destroy(object) device(0) depend(inout : data)
  CHECK(object == omp_interop_none);
#pragma omp target update from(data)
  CHECK_EQ(data[0], 200);
  for (int i = 1; i < kHalf; i++) CHECK_EQ(data[i], round + 1);
  for (int i = kHalf; i < kItems; i++) CHECK_EQ(data[i], 101);
}

/* The same by the calls of LLVM 22 and later, in which the construct does not name the device. */
void* __tgt_interop_get(void*, int, long, int, void*, unsigned* context, void*);
int __tgt_interop_use60(void*, void*, unsigned* context, void*), __tgt_interop_release(void*, void*, unsigned*, void*);
int ompx_interop_add_completion_callback(void*, void (*)(void*, void*), void*);
#pragma weak __tgt_interop_get /* the library that the program is linked with is older */
#pragma weak __tgt_interop_use60
#pragma weak __tgt_interop_release
#pragma weak ompx_interop_add_completion_callback

static int completions;

static void completed(void* object, void* data) { completions += object != NULL && data == &completions; }

static void run_newer(fill_t fill) {
  unsigned context[3] = {0}; /* version, flags, thread */
  unsigned long long at = 0;
#pragma omp target data use_device_addr(data)
  at = (unsigned long long)data;
  void* object = __tgt_interop_get(NULL, 1 /* targetsync */, 0, 0, NULL, context, NULL);
  void* stream = omp_get_interop_ptr(object, omp_ipr_targetsync, NULL);
  CHECK(stream != NULL);
  CHECK_EQ(ompx_interop_add_completion_callback(object, completed, &completions), 0);
  fill_slowly(fill, at, 300, kItems, stream);
  CHECK_EQ(completions, 0);
  CHECK_EQ(__tgt_interop_use60(NULL, object, context, NULL), 0);
  CHECK_EQ(completions, 1);
#pragma omp target update from(data)
  for (int i = 0; i < kItems; i++) CHECK_EQ(data[i], 300);
  fill_slowly(fill, at, 400, kItems, stream);
  CHECK_EQ(__tgt_interop_release(NULL, object, context, NULL), 0);
  CHECK_EQ(completions, 1);
#pragma omp target update from(data)
  for (int i = 0; i < kItems; i++) CHECK_EQ(data[i], 400);
}

int main(int argc, char** argv) {
  int suspends = argc > 1 && strcmp(argv[1], "suspends") == 0;
  void* driver = dlopen("libcuda.so", RTLD_NOW);
  fill_t fill = driver ? (fill_t)dlsym(driver, "cuMemsetD32Async") : NULL;
  CHECK(fill != NULL);
#pragma omp target enter data map(to : data)
  if (argc > 1 && strcmp(argv[1], "dispatch") == 0) {
    unsigned for_dispatch[3] = {0, 1, 0};
    return __tgt_interop_get(NULL, 1, 0, 0, NULL, for_dispatch, NULL) != NULL;
  }
#pragma omp parallel num_threads(1)
  for (int round = 0; round < kRounds; round++) {
#pragma omp task untied
    run(fill, round);
#pragma omp taskwait
  }
  run_newer(fill);
#pragma omp target exit data map(delete : data)
  CHECK_EQ(others, kRounds);
  CHECK(!suspends || others_seen == kRounds);
  return 0;
}
