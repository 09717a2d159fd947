/* SPDX-License-Identifier: Apache-2.0
 *
 * The library of reopen.c, with a variable that is on the device all the time.
 *
 * Covers: target(map), declare target, target update(to)
 */
#include <dirent.h>

void set_kept(int value);
int get_kept(void);
int* address_of_kept(void);
int descriptors(void);

#pragma omp declare target
int kept = 1;
#pragma omp end declare target

void set_kept(int value) {
  kept = value;
#pragma omp target update to(kept)
}

int get_kept(void) {
  int value = -1;
#pragma omp target map(from : value)
  value = kept;
  return value;
}

int* address_of_kept(void) { return &kept; }

/* Open files of the process that runs the region; a GPU has none. */
int descriptors(void) {
  int count = 0;
#ifndef NO_FILES
#pragma omp target map(tofrom : count)
  {
    DIR* list = opendir("/proc/self/fd");
    while (list && readdir(list)) count++;
    if (list) closedir(list);
  }
#endif
  return count;
}
