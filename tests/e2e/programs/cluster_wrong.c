/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_wrong PART: mistakes on a cluster, each of which has a line. With -DADDRESS also a
 * variable that begins with an address. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma omp declare target
int variable = 1;
#ifdef ADDRESS
int* address = &variable;
#endif
int counted(void) {
  static int calls = 0;
  return ++calls;
}
#pragma omp end declare target

static void attaches(void) {
  struct {
    int* pointer;
  } holder = {&variable};
#pragma omp target enter data map(to : holder)
#pragma omp target enter data map(to : holder.pointer[0 : 1])
}

static void copies_too_much(void) {
  char bytes[64] = {0};
  char* memory = omp_target_alloc(8, 0);
  omp_target_memcpy(memory, bytes, sizeof bytes, 0, 0, 0, omp_get_initial_device());
}

static void counts(void) {
  int calls = 0;
#pragma omp target map(tofrom : calls)
  calls = counted();
  printf("calls=%d\n", calls);
}

/* A region maps the whole of an array of which half is mapped. */
static void overlaps(void) {
  static double array[100];
#pragma omp target enter data map(to : array[0 : 50])
#pragma omp target map(tofrom : array)
  array[99] = 1;
}

/* Two nodes have a copy of the counter each. */
static void raises(void) {
  long counter = 0;
  for (int i = 0; i < 4; ++i) {
#pragma omp target nowait map(tofrom : counter)
    {
      usleep(20000);
#pragma omp atomic
      counter += 1;
    }
  }
#pragma omp taskwait
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  int value = 0;
#ifdef ADDRESS
#pragma omp target map(tofrom : value)
  value = *address;
#endif
#pragma omp target map(tofrom : value)
  value += variable++;
  if (strcmp(what, "attaches") == 0) attaches();
  if (strcmp(what, "copies") == 0) copies_too_much();
  if (strcmp(what, "counts") == 0) counts();
  if (strcmp(what, "overlaps") == 0) overlaps();
  if (strcmp(what, "raises") == 0) raises();
  printf("value=%d\n", value);
  return 0;
}
