/* SPDX-License-Identifier: Apache-2.0
 *
 * `declare target` variables in a program that requires unified shared memory: a region uses the host's variable.
 * Clang's code looks up its address in a pointer of the image's. Of every kind: numbers, arrays, structures, pointers,
 * static and thread-safe ones, of the clause link, and variables of another file and of a library.
 *
 * Covers: requires(unified_shared_memory), declare target(to, link)
 */
#include "../../check.h"
#include <omp.h>

#pragma omp requires unified_shared_memory

typedef struct {
  double reals[4];
  int* pointer;
  char text[16];
} Record;

#ifdef LIBRARY
int in_library = 50;
static int hidden_in_library = 60;
#pragma omp declare target to(in_library, hidden_in_library)
int use_library(void) {
  int seen = 0;
#pragma omp target map(from : seen)
  seen = in_library++ + hidden_in_library++;
  return seen + (in_library == 51 && hidden_in_library == 61 ? 0 : 1000);
}
#else
int number = 5;
long array[1000];
static Record record = {{1, 2, 3, 4}, NULL, "text"};
static const int constant = 9;
int* pointer;
static int linked[10];
#pragma omp declare target to(number, array, record, constant, pointer)
#pragma omp declare target link(linked)

static int read_by_function(void) { return number + (int)array[7]; }
#pragma omp declare target to(read_by_function)

static void regions(void) {
  int before = 0, by_function = 0, behind = 0;
  number = 7;
  array[7] = 70;
  record.pointer = pointer = &number;
  linked[3] = 33;
#pragma omp target map(from : before, by_function, behind)
  {
    before = number;
    by_function = read_by_function();
    behind = *record.pointer + *pointer + constant;
    number = 8;
    for (int i = 0; i < 1000; i++) array[i] += i;
    record.reals[2] = 33;
    record.text[0] = 'T';
    linked[3]++;
  }
  CHECK_EQ(before, 7);
  CHECK_EQ(by_function, 77);
  CHECK_EQ(behind, 23);
  CHECK_EQ(number, 8);
  CHECK_EQ(array[7], 77);
  CHECK_EQ(array[999], 999);
  CHECK_NEAR(record.reals[2], 33, 0);
  CHECK_EQ(record.text[0], 'T');
  CHECK_EQ(linked[3], 34);
}

static void deferred(void) {
  number = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (int i = 0; i < 20; i++) {
#pragma omp target nowait depend(inout : number)
    number++;
  }
  CHECK_EQ(number, 20);
}

int main(int argc, char** argv) {
  regions();
  deferred();
  if (argc > 1) {
    void* library = dlopen(argv[1], RTLD_NOW);
    CHECK(library != NULL);
    int (*use)(void) = (int (*)(void))dlsym(library, "use_library");
    CHECK(use != NULL);
    CHECK_EQ(use(), 110);
  }
  return 0;
}
#endif
