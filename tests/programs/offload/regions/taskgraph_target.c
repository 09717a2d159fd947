/* SPDX-License-Identifier: Apache-2.0
 *
 * Target constructs in taskgraph regions. Clang does not know the directive, but its calls for a target construct have
 * the same arguments. So the linker leads these calls to functions here (--wrap), which pass them to the entry points
 * for constructs in a taskgraph region, with dependences, as the tests of Clang's code generation in llvm-project
 * #188765 expect. A region sends data to a device, which tasks of the host and target regions change in turn.
 *
 * Covers: target(map:tofrom), target enter data(map:to), target exit data(map:from), target update(to, from)
 */
#include "../device.h"

#include "../../persistent/llvm_taskgraph.h"

int __kmpc_taskgraph_target(void*, int, int count, Depend*, int nowait, int64_t device, int teams, int threads,
                            void* id, void* arguments, void* relocate);
#define DATA_CALL(name)                                                                                         \
  void name(void*, int, int count, Depend*, int nowait, int64_t device, int items, void** bases, void** begins, \
            int64_t* sizes, int64_t* types, void** names, void** mappers, void* relocate)
DATA_CALL(__kmpc_taskgraph_target_enter_data);
DATA_CALL(__kmpc_taskgraph_target_exit_data);
DATA_CALL(__kmpc_taskgraph_target_update);

static int in_region; /* the calls are those of constructs in a taskgraph region */
static int nowait, calls;
static int released; /* all constructs of the region have been encountered */
static Depend depend[1];

int __real___tgt_target_kernel(void*, int64_t, int, int, void*, void*);
int __wrap___tgt_target_kernel(void* where, int64_t device, int teams, int threads, void* id, void* arguments) {
  if (!in_region) return __real___tgt_target_kernel(where, device, teams, threads, id, arguments);
  ++calls;
  return __kmpc_taskgraph_target(where, __kmpc_global_thread_num(where), 1, depend, nowait, device, teams, threads, id,
                                 arguments, NULL);
}

#define WRAP(call, entry)                                                                                        \
  void __real_##call(void*, int64_t, int, void**, void**, int64_t*, int64_t*, void**, void**);                   \
  void __wrap_##call(void* where, int64_t device, int items, void** bases, void** begins, int64_t* sizes,        \
                     int64_t* types, void** names, void** mappers) {                                             \
    if (!in_region) {                                                                                            \
      __real_##call(where, device, items, bases, begins, sizes, types, names, mappers);                          \
      return;                                                                                                    \
    }                                                                                                            \
    ++calls;                                                                                                     \
    entry(where, __kmpc_global_thread_num(where), 1, depend, nowait, device, items, bases, begins, sizes, types, \
          names, mappers, NULL);                                                                                 \
  }
WRAP(__tgt_target_data_begin_mapper, __kmpc_taskgraph_target_enter_data)
WRAP(__tgt_target_data_end_mapper, __kmpc_taskgraph_target_exit_data)
WRAP(__tgt_target_data_update_mapper, __kmpc_taskgraph_target_update)

enum { kItems = 100, kEncounters = 8 };

typedef struct {
  long* data;
  long factor;
  int device;
} Arguments;

/* A task of the host; it takes so long that a construct that does not wait for it finds the old data. */
static void on_host(long* data, long factor) {
#pragma omp task depend(inout : data[0]) firstprivate(factor)
  {
    for (int i = 0; i < 50000 && !__atomic_load_n(&released, __ATOMIC_ACQUIRE); i++) usleep(100);
    CHECK(__atomic_load_n(&released, __ATOMIC_ACQUIRE));
    usleep(500);
    for (int i = 0; i < kItems; i++) data[i] = data[i] * factor + 1;
  }
}

static void region(void* given) {
  Arguments* a = given;
  long *data = a->data, factor = a->factor;
  int device = a->device;
  long added[] = {2, 3}; /* firstprivate, and gone when the regions run */
  depend[0] = (Depend){data, sizeof *data, kInout};
  on_host(data, factor);
#pragma omp target enter data map(to : data[0 : kItems]) device(device)
#pragma omp target map(tofrom : data[0 : kItems]) firstprivate(factor, added) device(device)
  for (int i = 0; i < kItems; i++) data[i] = data[i] * factor + added[0];
#pragma omp target update from(data[0 : kItems]) device(device)
  on_host(data, factor);
#pragma omp target update to(data[0 : kItems]) device(device)
#pragma omp target map(tofrom : data[0 : kItems]) firstprivate(factor, added) device(device)
  for (int i = 0; i < kItems; i++) data[i] = data[i] * factor + added[1];
#pragma omp target exit data map(from : data[0 : kItems]) device(device)
  on_host(data, factor);
  added[0] = added[1] = -1;
  __atomic_store_n(&released, 1, __ATOMIC_RELEASE);
}

static long expected(long value, long factor) {
  static const long added[] = {1, 2, 1, 3, 1};
  for (int i = 0; i < 5; i++) value = value * factor + added[i];
  return value;
}

static void* handle;

static void encounters(int device) {
  static long data[2][kItems];
  for (int e = 0; e < kEncounters; e++) {
    Arguments arguments = {data[e == 5], 2 + e % 3, device}; /* once elsewhere */
    for (int i = 0; i < kItems; i++) arguments.data[i] = i + e;
    calls = 0;
    released = !nowait || e == 0 || device == omp_get_initial_device();
    in_region = 1;
    __kmpc_taskgraph(NULL, __kmpc_global_thread_num(NULL), &handle, (uintptr_t)device, e == 6, 0, region, &arguments);
    in_region = 0;
    CHECK_EQ(calls, 6);
    for (int i = 0; i < kItems; i++) CHECK_EQ(arguments.data[i], expected(i + e, arguments.factor));
    CHECK(device == omp_get_initial_device() || !own_copies() || !omp_target_is_present(arguments.data, device));
  }
}

int main(void) {
  (void)own_copies(); /* asks the device, outside of the region */
#pragma omp parallel
#pragma omp single
  {
    for (nowait = 0; nowait < 2; nowait++) {
      for (int device = 0; device < omp_get_num_devices(); device++) encounters(device);
      encounters(omp_get_initial_device());
    }
  }
  return 0;
}
