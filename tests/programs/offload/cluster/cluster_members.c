/* SPDX-License-Identifier: Apache-2.0
 *
 * The members of a cluster by their numbers: device(k) says on which node a region runs, and the data is the cluster's,
 * whichever of the numbers a construct or a routine names; marline_task_node says it, too. Without devices all numbers
 * are the host's, and the hint does nothing. The program is not linked with Marline.
 *
 * Covers: target(device, nowait, depend, is_device_ptr, map:tofrom), target data(device),
 *   target enter data(device), target exit data(device), target update(to, from, device), declare target(to),
 *   omp_target_alloc, omp_target_free, omp_target_memcpy, omp_target_is_present, omp_get_device_num,
 *   omp_set_default_device
 */
#include "../device.h"

#include <unistd.h>

enum { N = 1000, kRounds = 3, kMost = 16 };

#pragma omp declare target
int g_count = 7;
#pragma omp end declare target

void marline_task_node(int node); /* marline.h */
#pragma weak marline_task_node

static int g_devices; /* that a construct can name: the cluster is 0, its members follow */

/* Each region of a chain on another member; and at each a region on any of them. */
static void chain(void) {
  int x[N], numbers[kMost] = {0}, processes[kMost][kRounds];
  for (int i = 0; i < N; i++) x[i] = i;
#pragma omp target enter data map(to : x) map(to : numbers) map(alloc : processes)
#pragma omp parallel
#pragma omp single
  for (int round = 0; round < kRounds; round++) {
    for (int d = 0; d < g_devices; d++) {
#pragma omp target nowait depend(inout : x) device(d) map(tofrom : x, numbers, processes) firstprivate(d, round)
      {
        for (int i = 0; i < N; i++) x[i] += d + 1;
        numbers[d] = omp_get_device_num();
        processes[d][round] = (int)getpid();
      }
#pragma omp target nowait depend(inout : x) map(tofrom : x)
      for (int i = 0; i < N; i++) x[i] *= 2;
    }
  }
  for (int d = 0; d < g_devices; d++) CHECK_EQ(omp_target_is_present(x, d) != 0, 1);
#pragma omp target exit data map(from : x, numbers, processes) device(g_devices - 1)
  for (int d = 0; d < g_devices; d++) CHECK_EQ(omp_target_is_present(x, d) != 0, !own_copies());
  for (int i = 0; i < N; i++) {
    int expected = i;
    for (int step = 0; step < kRounds * g_devices; step++) expected = (expected + step % g_devices + 1) * 2;
    CHECK_EQ(x[i], expected);
  }
  for (int d = 1; d < g_devices; d++) {
    CHECK_EQ(numbers[d], d);
    CHECK_EQ(processes[d][1], processes[d][0]);
    CHECK_EQ(processes[d][2], processes[d][0]);
    for (int other = 1; other < d; other++) CHECK_EQ(processes[other][0] != processes[d][0], 1);
  }
}

/* Regions without order on all members write between each other's bytes. */
static void together(void) {
  static unsigned char bytes[N];
  for (int i = 0; i < N; i++) bytes[i] = (unsigned char)i;
#pragma omp target data map(tofrom : bytes) device(g_devices - 1)
  {
#pragma omp parallel
#pragma omp single
    for (int d = 0; d < g_devices; d++) {
#pragma omp target nowait device(d) map(tofrom : bytes) firstprivate(d)
      for (int i = d; i < N; i += g_devices) bytes[i] = (unsigned char)(bytes[i] * 3 + d);
    }
  }
  for (int i = 0; i < N; i++) CHECK_EQ(bytes[i], (unsigned char)(i * 3 + i % g_devices));
}

/* An update, and a map, of one number is seen under all the others. */
static void updates(void) {
  int value = 1, seen[kMost] = {0};
#pragma omp target enter data map(to : value) device(g_devices - 1)
  for (int d = 0; d < g_devices; d++) {
    value = 10 + d;
#pragma omp target update to(value) device(d)
    int next = (d + 1) % g_devices;
#pragma omp target map(tofrom : value) map(from : seen[d : 1]) device(next)
    {
      seen[d] = value;
      value += 100;
    }
    int last = (d + 2) % g_devices;
#pragma omp target update from(value) device(last)
    CHECK_EQ(seen[d], 10 + d);
    CHECK_EQ(value, 110 + d);
  }
#pragma omp target exit data map(delete : value)
}

/* `declare target` variables are the cluster's, too. */
static void variables(void) {
  for (int d = 0; d < g_devices; d++) {
    int seen = 0, next = (d + 1) % g_devices;
    g_count = 20 + d;
#pragma omp target update to(g_count) device(d)
#pragma omp target device(next) map(from : seen)
    seen = g_count++;
    CHECK_EQ(seen, 20 + d);
#pragma omp target map(from : seen)
    seen = g_count++;
    CHECK_EQ(seen, 21 + d);
#pragma omp target update from(g_count) device(d)
    CHECK_EQ(g_count, 22 + d);
  }
}

static void routines(void) {
  int host = omp_get_initial_device(), values[N], back[N];
  for (int i = 0; i < N; i++) values[i] = i * 5;
  for (int d = 0; d < g_devices; d++) {
    int next = (d + 1) % g_devices, last = (d + 2) % g_devices;
    int *one = omp_target_alloc(sizeof values, d), *other = omp_target_alloc(sizeof values, next);
    CHECK_EQ(omp_target_memcpy(one, values, sizeof values, 0, 0, next, host), 0);
    CHECK_EQ(omp_target_memcpy(other, one, sizeof values, 0, 0, d, last), 0);
#pragma omp target is_device_ptr(other) device(last)
    for (int i = 0; i < N; i++) other[i] += i;
    CHECK_EQ(omp_target_memcpy(back, other, sizeof values, 0, 0, host, d), 0);
    for (int i = 0; i < N; i++) CHECK_EQ(back[i], i * 6);
    omp_target_free(one, last);
    omp_target_free(other, 0);
  }
}

static void hint(int node) {
  if (marline_task_node) marline_task_node(node);
}

typedef struct {
  int process, number;
} Seen;

static Seen region(int device) {
  Seen seen = {0, -1};
#pragma omp target map(from : seen) device(device)
  seen = (Seen){(int)getpid(), omp_get_device_num()};
  return seen;
}

/* Every form of the construct, with a region on another node before it. */
static void hints(void) {
  Seen seen[6] = {{0, 0}}, by_default = {0, -1};
#pragma omp target enter data map(to : seen)
  for (int node = 1; node < g_devices; node++) {
    int process = region(node).process, other = node % (g_devices - 1) + 1;
    hint(node);
    seen[0] = region(0);
    hint(other); /* the clause decides, and the hint is used up */
    seen[1] = region(node);
    omp_set_default_device(node);
#pragma omp target map(from : by_default)
    by_default = (Seen){(int)getpid(), omp_get_device_num()};
    omp_set_default_device(0);
    CHECK_EQ(by_default.process, process);
    CHECK_EQ(by_default.number, node);
#pragma omp parallel
#pragma omp single
    {
      hint(node);
#pragma omp target nowait depend(inout : seen) map(tofrom : seen)
      seen[2] = (Seen){(int)getpid(), omp_get_device_num()};
      hint(node);
#pragma omp target depend(inout : seen) map(tofrom : seen)
      seen[3] = (Seen){(int)getpid(), omp_get_device_num()};
      hint(node);
#pragma omp task depend(inout : seen)
      {
#pragma omp target map(tofrom : seen)
        seen[4] = (Seen){(int)getpid(), omp_get_device_num()};
#pragma omp target map(tofrom : seen)
        seen[5] = (Seen){(int)getpid(), omp_get_device_num()};
      }
    }
    Seen first = seen[0], second = seen[1];
#pragma omp target update from(seen)
    CHECK_EQ(first.process, process);
    CHECK_EQ(second.process, process);
    for (int i = 2; i < 6; i++) {
      CHECK_EQ(seen[i].process, process);
      CHECK_EQ(seen[i].number, 0);
    }
  }
#pragma omp target exit data map(delete : seen)
  if (omp_get_num_devices() == 0) hint(99);
}

int main(void) {
  g_devices = omp_get_num_devices();
  CHECK(g_devices <= kMost);
  if (g_devices == 0) g_devices = 1;
  chain();
  together();
  updates();
  variables();
  routines();
  hints();
  return 0;
}
