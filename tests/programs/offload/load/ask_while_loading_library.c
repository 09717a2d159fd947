/* SPDX-License-Identifier: Apache-2.0
 *
 * The library of ask_while_loading.c: its constructor gives the program's other thread time to ask first.
 */
#include <unistd.h>

extern int constructor_runs, from_constructor;

__attribute__((constructor)) static void begin(void) {
  int value = 5;
  __atomic_store_n(&constructor_runs, 1, __ATOMIC_RELEASE);
  usleep(200000);
#pragma omp target map(tofrom : value)
  value++;
  from_constructor = value;
}
