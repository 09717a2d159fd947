/* SPDX-License-Identifier: Apache-2.0
 *
 * Usage: cluster_wrong PART: mistakes on a cluster, each of which has a line. With -DADDRESS also a
 * variable that begins with an address. */
#include <marline/marline.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The program is not linked with libmarline. */
#pragma weak marline_graph_begin
#pragma weak marline_graph_end
#pragma weak marline_graph_iterate

#pragma omp declare target
int variable = 1;
#ifdef ADDRESS
int *address = &variable;
#endif
int counted(void) {
  static int calls = 0;
  return ++calls;
}
#pragma omp end declare target

static void attaches(void) {
  struct {
    int *pointer;
  } holder = {&variable};
#pragma omp target enter data map(to : holder)
#pragma omp target enter data map(to : holder.pointer[0 : 1])
}

static void copies_too_much(void) {
  char bytes[64] = {0};
  char *memory = omp_target_alloc(8, 0);
  omp_target_memcpy(memory, bytes, sizeof bytes, 0, 0, 0, omp_get_initial_device());
}

static void counts(void) {
  int calls = 0;
#pragma omp target map(tofrom : calls)
  calls = counted();
  printf("calls=%d\n", calls);
}

static struct {
  long *pointer;
} list;
static long values[4];

static void link_values(int microseconds) {
#pragma omp target nowait depend(inout : list) map(tofrom : list) map(tofrom : values) firstprivate(microseconds)
  {
    usleep(microseconds);
    list.pointer = microseconds != 0 ? values : NULL;
  }
}

static void add_to_list(void) {
#pragma omp target nowait depend(inout : list) map(tofrom : list)
  if (list.pointer != NULL)
    list.pointer[0]++;
}

/* The nodes repeat the iterations by themselves by then. */
static void stores_a_pointer(void) {
#pragma omp target enter data map(to : list, values)
  MARLINE_GRAPH_FOR(int turn = 0, turn < 20, turn++, MARLINE_GRAPH_NOWAIT) {
    link_values(turn == 19 ? 300 * 1000 : 0);
    add_to_list();
  }
#pragma omp target exit data map(from : list, values)
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

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "";
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
  if (strcmp(what, "stores") == 0) stores_a_pointer();
  printf("value=%d\n", value);
  return 0;
}
