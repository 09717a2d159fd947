/* SPDX-License-Identifier: Apache-2.0
 *
 * A region is at its node before the one that it depends on has ended: the first one stops the program's process, and
 * the second one, which has to be somewhere by then, finds it stopped and lets it go on. In between no process can send
 * a message. Each node is another one (round robin), so the second region's data comes from the first one's node.
 *
 * `pointers`: a region stores a pointer, which its kernel has not done before, and the next one is on its way already.
 * It finds what is there all the same.
 *
 * Covers: target(nowait, depend, map:tofrom), target enter data(map:to), target exit data(map:from)
 */
#include "../device.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kRegions = 6 };

#pragma omp declare target
/* As /proc says it: 'T' for a process that is stopped. */
static char state_of(int process) {
  char name[64], text[256];
  snprintf(name, sizeof name, "/proc/%d/stat", process);
  int file = open(name, O_RDONLY);
  ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  text[bytes > 0 ? bytes : 0] = 0;
  for (char* at = text; *at != 0; at++)
    if (at[0] == ')' && at[1] == ' ') return at[2];
  return '?';
}

/* `step`: 0: all that follow have been created. The others find out whether the program takes part. */
static void meet(int* seen, int step, int process, const char* go) {
  if (step == 0) {
    while (access(go, F_OK) != 0) usleep(100);
    kill(process, SIGSTOP);
    while (state_of(process) != 'T') usleep(100);
  }
  seen[step] = state_of(process);
  if (step == kRegions - 1) kill(process, SIGCONT);
}
#pragma omp end declare target

static void create(int* seen, int step, int process) {
#pragma omp target nowait depend(inout : seen[0]) map(tofrom : seen[0 : kRegions])
  {
    char go[64];
    snprintf(go, sizeof go, "/tmp/marline_ahead_%d", process);
    meet(seen, step, process, go);
  }
}

static void store_pointer(void) {
  int device = omp_get_default_device(), cell = 0;
  int *there = omp_target_alloc(sizeof *there, device), **at = omp_target_alloc(sizeof there, device), value = 0;
#pragma omp target is_device_ptr(there)
  *there = 6;
#pragma omp parallel
#pragma omp single
  for (int stores = 0; stores < 2; stores++) {
#pragma omp target nowait is_device_ptr(at, there) firstprivate(stores) depend(inout : cell)
    {
      usleep(stores * 100000);
      *at = stores ? there : NULL;
    }
#pragma omp target nowait is_device_ptr(at) depend(inout : cell)
    if (*at != NULL) **at += 1;
#pragma omp taskwait
  }
  (void)cell;
  CHECK_EQ(omp_target_memcpy(&value, there, sizeof value, 0, 0, omp_get_initial_device(), device), 0);
  CHECK_EQ(value, 7);
  omp_target_free(there, device);
  omp_target_free(at, device);
}

int main(int count, char** words) {
  (void)words;
  static int seen[kRegions];
  int process = getpid(), there = process, *at = seen;
  char go[64];
  (void)at; /* GCC does not count its use in a map */
#pragma omp target map(from : there)
  there = getpid();
  if (there == process) /* it would stop itself */
    return 0;
  if (count > 1) {
    store_pointer();
    return 0;
  }
  snprintf(go, sizeof go, "/tmp/marline_ahead_%d", process);
  unlink(go);
#pragma omp target enter data map(to : at[0 : kRegions])
#pragma omp parallel
#pragma omp single
  {
    create(at, 1, process); /* finds the kernel */
#pragma omp taskwait
    for (int step = 0; step < kRegions; step++) create(at, step, process);
    int file = open(go, O_CREAT | O_WRONLY, 0600);
    CHECK(file >= 0);
    close(file);
  }
  unlink(go);
#pragma omp target exit data map(from : at[0 : kRegions])
  for (int step = 0; step < kRegions; step++) CHECK_EQ(seen[step], 'T');
  return 0;
}
