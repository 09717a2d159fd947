/* SPDX-License-Identifier: Apache-2.0
 *
 * Iterations of a persistent graph in which regions are not created any more once the device knows them, and what may
 * come between the regions: a taskgroup that has to wait for its regions, data that is mapped anew, values that are
 * addresses of the device, other maps. What comes in the midst of iteration `when` is in no other one.
 *
 * Covers: target(nowait, depend, firstprivate, is_device_ptr), taskgroup, target enter data(map:to),
 *   target exit data(map:delete, map:from)
 */
#include "../device.h"

#include <marline/marline.h>

enum { kIterations = 12, kRegions = 24 };

static long x[kRegions], y[kRegions];

static void add_to_all(long* cells, long add) {
  for (int i = 0; i < kRegions; i++) {
    long* cell = &cells[i];
#pragma omp target nowait map(tofrom : cell[0 : 1]) depend(inout : cell[0]) firstprivate(add)
    cell[0] += add;
  }
}

static void begin(void) {
  for (int i = 0; i < kRegions; i++) x[i] = y[i] = 0;
#pragma omp target enter data map(to : x, y)
}

static void end(long in_x, long in_y) {
#pragma omp target exit data map(from : x, y)
  for (int i = 0; i < kRegions; i++) {
    CHECK_EQ(x[i], in_x);
    CHECK_EQ(y[i], in_y);
  }
}

/* After the group its regions have ended: the host gets what they have written. */
static void group(int when) {
  begin();
#pragma omp parallel
#pragma omp single
  {
    MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, MARLINE_GRAPH_BARRIER) {
      add_to_all(x, it);
      if (it == when || when < 0) {
#pragma omp taskgroup
        add_to_all(y, 1);
        long seen = 0;
#pragma omp target map(always, from : seen)
        seen = y[kRegions - 1];
        CHECK_EQ(seen, when < 0 ? it + 1 : 1);
      } else {
        add_to_all(y, 0);
      }
    }
  }
  end(kIterations * (kIterations - 1) / 2, when < 0 ? kIterations : 1);
}

/* Between two halves of an iteration the data is taken off the device, and comes back with other values. */
static void mapped_anew(int when) {
  begin();
#pragma omp parallel
#pragma omp single
  {
    MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, MARLINE_GRAPH_BARRIER) {
      add_to_all(x, 1);
      if (it == when) {
#pragma omp target exit data map(delete : y)
        CHECK_PRESENT(y, 0);
        for (int i = 0; i < kRegions; i++) y[i] = 1000;
#pragma omp target enter data map(to : y)
      }
      add_to_all(y, it);
    }
  }
  long sum = 1000;
  for (int it = when; it < kIterations; it++) sum += it;
  end(kIterations, sum);
}

/* Two iterations of another form. For some iterations after them the device is not asked; then values come that it had
 * before. */
static void differs_twice(int when, int period) {
  enum { kMany = 60 };
  long sum = 0;
  begin();
#pragma omp parallel
#pragma omp single
  {
    MARLINE_GRAPH_FOR(int it = 0, it < kMany, ++it, MARLINE_GRAPH_BARRIER) {
      add_to_all(x, it % period);
      if (it == when || it == when + 10) add_to_all(y, 1);
      sum += it % period;
    }
  }
  end(sum, 2);
}

static void other_addresses(int when) {
  int device = omp_get_default_device();
  long *places[2], seen[2] = {0, 0}, none = 0;
  for (int i = 0; i < 2; i++) {
    places[i] = omp_target_alloc(sizeof(long), device);
    CHECK_EQ(omp_target_memcpy(places[i], &none, sizeof none, 0, 0, device, omp_get_initial_device()), 0);
  }
#pragma omp parallel
#pragma omp single
  {
    MARLINE_GRAPH_FOR(int it = 0, it < kIterations, ++it, MARLINE_GRAPH_BARRIER) {
      long* place = places[it >= when];
      for (int k = 0; k < 4; k++) {
#pragma omp target nowait is_device_ptr(place) depend(inout : none)
        place[0] += 1;
      }
    }
  }
  for (int i = 0; i < 2; i++) {
    CHECK_EQ(omp_target_memcpy(&seen[i], places[i], sizeof none, 0, 0, omp_get_initial_device(), device), 0);
    omp_target_free(places[i], device);
  }
  CHECK_EQ(seen[0], 4 * when);
  CHECK_EQ(seen[1], 4 * (kIterations - when));
}

int main(void) {
  for (int when = 1; when < kIterations; when++) {
    group(when);
    if (own_copies()) mapped_anew(when);
    other_addresses(when);
    differs_twice(when, 2 + when % 8);
  }
  group(-1);
  return 0;
}
