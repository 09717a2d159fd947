/* SPDX-License-Identifier: Apache-2.0
 *
 * Components that are pointers as code of gfortran 14 to 16 maps them, called as that code calls the runtime: the
 * component's descriptor is a member of the structure, but of the kind of one that comes along with an array, and the
 * pointer in it is attached after everything else. (12 and 13 have other kinds for both.) And temporaries, which code
 * of all of them maps by their address.
 *
 * Covers: entry points of other compilers, target enter data, target exit data
 */
#include "../device.h"
#include <stdint.h>

/* libgfortran.h, of rank 1 */
typedef struct {
  int* data;
  intptr_t offset;
  size_t element;
  int version;
  signed char rank, type;
  short attribute;
  intptr_t span;
  intptr_t stride, low, high;
} Array;

typedef struct {
  int before;
  Array p, q;
  int behind;
} Part;

void GOMP_target_ext(int device, void (*kernel)(void*), size_t count, void** addresses, size_t* sizes,
                     unsigned short* kinds, unsigned flags, void** depend, void** arguments);
void GOMP_target_enter_exit_data(int device, size_t count, void** addresses, size_t* sizes, unsigned short* kinds,
                                 unsigned flags, void** depend);

enum { kDefaultDevice = -1, kNowait = 1, kExit = 2 };
enum { kTo = 1, kFrom = 2, kToFrom = 3, kPointer = 0x04, kValue = 0x0d, kRelease = 0x17, kImplicit = 0x60 };
enum { kMember = 0x05 | 3 << 8, kStructure = 0x1c, kAttach = 0x50, kDetach = 0x51, kInts = 2 << 8 };
enum { kCount = 40 };

/* What a construct passes. */
typedef struct {
  size_t count, sizes[16];
  void* addresses[16];
  unsigned short kinds[16];
} Maps;

static void put(Maps* maps, void* address, size_t size, unsigned kind) {
  maps->addresses[maps->count] = address;
  maps->sizes[maps->count] = size;
  maps->kinds[maps->count++] = (unsigned short)kind;
}

static void put_value(Maps* maps, intptr_t value) { put(maps, (void*)value, 0, kValue); }

static int* at(const Array* array, intptr_t i) {
  return (int*)((char*)array->data + (array->offset + i * array->stride) * array->span);
}

static Array array_of(int* data, intptr_t low, intptr_t high) {
  return (Array){data, -low, sizeof(int), 0, 1, 1, 0, sizeof(int), 1, low, high};
}

/* Of elements low to high. */
static void put_section(Maps* maps, const Array* array, intptr_t low, intptr_t high, unsigned kind) {
  put(maps, at(array, low), (size_t)(high - low + 1) * sizeof(int), kind | kInts);
}

static void put_pointer(Maps* maps, Array* array, intptr_t low, unsigned kind) {
  put(maps, &array->data, (size_t)((char*)at(array, low) - (char*)array->data), kind);
}

static void start(void (*kernel)(void*), Maps* maps, unsigned flags) {
  void* no_arguments[] = {NULL};
  GOMP_target_ext(kDefaultDevice, kernel, maps->count, maps->addresses, maps->sizes, maps->kinds, flags, NULL,
                  no_arguments);
  memset(maps, -1, sizeof *maps); /* the region has its own */
}

/* Adds to elements low to high. */
static void add(void* data) {
  struct {
    intptr_t value, low, high;
    Part* part;
  }* given = data;
  for (intptr_t i = given->low; i <= given->high; ++i) *at(&given->part->p, i) += (int)given->value;
}

/* target map(tofrom: part%p(low:high)) */
static void add_to(Part* part, intptr_t low, intptr_t high, int value, unsigned flags) {
  Maps maps = {0};
  put_value(&maps, value);
  put_value(&maps, low);
  put_value(&maps, high);
  put(&maps, part, 1, kStructure);
  put(&maps, &part->p, sizeof part->p, kMember);
  put_section(&maps, &part->p, low, high, kToFrom | kImplicit);
  put_pointer(&maps, &part->p, low, kAttach);
  start(add, &maps, flags);
}

/* p gets what q has, in the other order, and that of the part. */
static void turn(void* data) {
  Part* part = *(Part**)data;
  for (intptr_t i = part->p.low, k = part->q.high; i <= part->p.high; ++i, --k)
    *at(&part->p, i) = *at(&part->q, k) + part->before;
}

/* target map(from: part%p) map(to: part%before, part%q) */
static void turn_into(Part* part, unsigned flags) {
  Maps maps = {0};
  put(&maps, part, 3, kStructure);
  put(&maps, &part->before, sizeof part->before, kTo | kInts);
  put(&maps, &part->p, sizeof part->p, kMember);
  put(&maps, &part->q, sizeof part->q, kMember);
  put_section(&maps, &part->p, part->p.low, part->p.high, kFrom | kImplicit);
  put_section(&maps, &part->q, part->q.low, part->q.high, kTo | kImplicit);
  put_pointer(&maps, &part->p, part->p.low, kAttach);
  put_pointer(&maps, &part->q, part->q.low, kAttach);
  start(turn, &maps, flags);
}

/* target enter data map(to: part%p) */
static void enter(Part* part) {
  Maps maps = {0};
  put(&maps, part, 1, kStructure);
  put(&maps, &part->p, sizeof part->p, kMember);
  put_section(&maps, &part->p, part->p.low, part->p.high, kTo);
  put_pointer(&maps, &part->p, part->p.low, kAttach);
  GOMP_target_enter_exit_data(kDefaultDevice, maps.count, maps.addresses, maps.sizes, maps.kinds, 0, NULL);
}

/* target exit data map(from: part%p) */
static void leave(Part* part) {
  Maps maps = {0};
  put(&maps, &part->p, sizeof part->p, kRelease | 3 << 8);
  put_section(&maps, &part->p, part->p.low, part->p.high, kFrom);
  put_pointer(&maps, &part->p, part->p.low, kDetach);
  GOMP_target_enter_exit_data(kDefaultDevice, maps.count, maps.addresses, maps.sizes, maps.kinds, kExit, NULL);
}

/* Stores a temporary, which is mapped by its address. */
static void store(void* data) {
  struct {
    intptr_t *temporary, *section, **array;
  }* given = data;
  **given->array = *given->temporary;
}

/* As GCC lists the functions of regions. */
__attribute__((section(".gnu.offload_funcs"), used)) static void (*kernels[])(void*) = {add, turn, store};

static void fill(int* numbers, int first) {
  for (int i = 0; i < kCount; ++i) numbers[i] = first + i;
}

static void check_part(const Part* part, const Array* p, const Array* q) {
  CHECK_EQ(part->before, 11);
  CHECK_EQ(part->behind, 22);
  CHECK_EQ(memcmp(&part->p, p, sizeof *p), 0);
  CHECK_EQ(memcmp(&part->q, q, sizeof *q), 0);
}

static void regions(unsigned flags) {
  int first[kCount], second[kCount];
  Array p = array_of(first, 5, kCount + 4), q = array_of(second, -2, kCount - 3);
  Part part = {11, p, q, 22};
  fill(first, 100);
  fill(second, 200);
  add_to(&part, 7, 9, 1000, flags);
#pragma omp taskwait
  add_to(&part, 20, kCount + 4, 2000, flags);
#pragma omp taskwait
  for (int i = 0; i < kCount; ++i)
    CHECK_EQ(first[i], 100 + i + (i + 5 >= 7 && i + 5 <= 9 ? 1000 : 0) + (i + 5 >= 20 ? 2000 : 0));
  turn_into(&part, flags);
#pragma omp taskwait
  for (int i = 0; i < kCount; ++i) {
    CHECK_EQ(first[i], 200 + kCount - 1 - i + 11);
    CHECK_EQ(second[i], 200 + i);
  }
  check_part(&part, &p, &q);
}

/* They are in flight together, on sections of what is mapped. */
static void blocks(void) {
  enum { kBlock = 8 };
  int numbers[kCount];
  Array p = array_of(numbers, 0, kCount - 1), q = {0};
  Part part = {11, p, q, 22};
  fill(numbers, 100);
  enter(&part);
  for (int round = 0; round < 3; ++round) {
    for (int low = 0; low < kCount; low += kBlock) add_to(&part, low, low + kBlock - 1, 1000 * (round + low), kNowait);
#pragma omp taskwait
  }
  if (own_copies()) CHECK_EQ(numbers[0], 100);
  leave(&part);
  for (int i = 0; i < kCount; ++i) CHECK_EQ(numbers[i], 100 + i + 3000 + 3000 * (i / kBlock * kBlock));
  check_part(&part, &p, &q);
}

/* The structure is mapped while the pointer gets another target with other bounds. */
static void renewed(void) {
  int first[kCount], second[kCount];
  Array p = array_of(first, 1, kCount), other = array_of(second, 1001, 1000 + kCount / 2), q = {0};
  Part part = {11, p, q, 22};
  fill(first, 100);
  fill(second, 200);
#pragma omp target enter data map(to : part)
  add_to(&part, 1, 10, 1000, kNowait);
#pragma omp taskwait
  part.p = other;
  add_to(&part, 1003, 1005, 2000, kNowait);
#pragma omp taskwait
  add_to(&part, 1010, 1000 + kCount / 2, 3000, 0);
#pragma omp target exit data map(delete : part)
  for (int i = 0; i < kCount; ++i) {
    CHECK_EQ(first[i], 100 + i + (i < 10 ? 1000 : 0));
    CHECK_EQ(second[i], 200 + i + (i >= 2 && i <= 4 ? 2000 : 0) + (i >= 9 && i < kCount / 2 ? 3000 : 0));
  }
  check_part(&part, &other, &q);
}

/* Its data is no temporary, though it is as small as one, on the stack, and mapped implicitly. */
static void small(unsigned flags) {
  int to[] = {1, 2}, from[] = {100, 200};
  Array p = array_of(to, 0, 1), q = array_of(from, 3, 4);
  Part part = {11, p, q, 22};
  turn_into(&part, flags);
#pragma omp taskwait
  CHECK_EQ(to[0], 211);
  CHECK_EQ(to[1], 111);
  check_part(&part, &p, &q);
}

static intptr_t result;
static uintptr_t place; /* of the temporary */

__attribute__((noipa)) static void defer(void* depend) {
  static intptr_t* array = &result;
  intptr_t temporary = 0x1234567;
  place = (uintptr_t)&temporary;
  void *dependences[] = {(void*)1, (void*)1, depend}, *no_arguments[] = {NULL};
  Maps maps = {0};
  put(&maps, &temporary, sizeof temporary, kTo | kImplicit | 3 << 8);
  put(&maps, &result, sizeof result, kFrom | 3 << 8);
  put(&maps, &array, 0, kPointer);
  GOMP_target_ext(kDefaultDevice, store, maps.count, maps.addresses, maps.sizes, maps.kinds, kNowait, dependences,
                  no_arguments);
}

/* Has data where the temporary was, and maps it when the region runs. */
__attribute__((noipa)) static void reuse(int* go) {
  intptr_t data[200];
  memset(data, 1, sizeof data);
  CHECK(place >= (uintptr_t)data && place < (uintptr_t)(data + 200));
#pragma omp target enter data map(to : data)
  __atomic_store_n(go, 1, __ATOMIC_RELEASE);
#pragma omp taskwait
#pragma omp target exit data map(delete : data)
}

static void temporary(void) {
  int go = 0, gate;
  result = 0;
  (void)gate; /* only its address is used */
#pragma omp task depend(out : gate) shared(go)
  while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) {
#pragma omp taskyield
  }
  defer(&gate);
  reuse(&go);
  CHECK_EQ(result, 0x1234567);
}

int main(void) {
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < 4; ++round) {
    regions(0);
    regions(kNowait);
    blocks();
    renewed();
    small(0);
    small(kNowait);
    temporary();
  }
  return 0;
}
