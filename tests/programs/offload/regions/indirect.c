/* SPDX-License-Identifier: Apache-2.0
 *
 * `declare target indirect`: kernels call functions by the pointers that the program has. The pointers are in mapped
 * tables and structures and in private variables; there are many functions side by side, and functions of a library
 * that is opened again and again (Clang takes no static ones). In a worker the program's addresses are not mapped, and
 * lead to the image's functions.
 *
 * Covers: declare target(indirect), begin declare target
 */
#include "../device.h"

typedef long (*Function)(long);
typedef struct {
  Function function;
  long argument, result;
} Call;

#ifdef LIBRARY
#pragma omp begin declare target indirect
long in_library(long x) { return x + 1000; }
#pragma omp end declare target
long use_library(void) {
  Function function = in_library;
  long result = 0;
#pragma omp target map(from : result)
  result = function(1);
  return result;
}
#else
#define EIGHT(base) \
  ONE(base##0) ONE(base##1) ONE(base##2) ONE(base##3) ONE(base##4) ONE(base##5) ONE(base##6) ONE(base##7)
#define ALL EIGHT(10) EIGHT(11) EIGHT(12) EIGHT(13) EIGHT(14) EIGHT(15) EIGHT(16) EIGHT(17)

#pragma omp begin declare target indirect
#define ONE(n) \
  long function_##n(long x) { return x * n + (x > n ? 1 : 0); }
ALL
#undef ONE
    long
    square(long x) {
  return x * x;
}
#pragma omp end declare target

enum { kFunctions = 64 };
static const Function functions[kFunctions] = {
#define ONE(n) function_##n,
    ALL
#undef ONE
};

static void tables(void) {
  long results[kFunctions] = {0};
  Function table[kFunctions];
  memcpy(table, functions, sizeof table);
#pragma omp target map(to : table) map(tofrom : results)
  for (int i = 0; i < kFunctions; i++) results[i] = table[i](i) + table[kFunctions - 1 - i](3);
  for (int i = 0; i < kFunctions; i++) CHECK_EQ(results[i], functions[i](i) + functions[kFunctions - 1 - i](3));
}

static void structures(void) {
  Call calls[kFunctions];
  for (int i = 0; i < kFunctions; i++) calls[i] = (Call){functions[i], 100 + i, 0};
#pragma omp target teams distribute parallel for map(tofrom : calls)
  for (int i = 0; i < kFunctions; i++) calls[i].result = calls[i].function(calls[i].argument);
  for (int i = 0; i < kFunctions; i++) CHECK_EQ(calls[i].result, functions[i](100 + i));
}

static void deferred(void) {
  long results[8];
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 8; i++) {
    Function function = i % 2 ? square : functions[i];
#pragma omp target nowait firstprivate(function, i) map(from : results[i : 1])
    results[i] = function(i);
  }
  for (int i = 0; i < 8; i++) CHECK_EQ(results[i], i % 2 ? i * i : functions[i](i));
}

int main(int argc, char** argv) {
  for (int round = 0; round < 3; round++) {
    tables();
    structures();
    deferred();
  }
  for (int round = 0; argc > 1 && round < 3; round++) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    long (*use)(void) = (long (*)(void))dlsym(library, "use_library");
    CHECK(use != NULL);
    CHECK_EQ(use(), 1001);
    dlclose(library);
  }
  return 0;
}
#endif
