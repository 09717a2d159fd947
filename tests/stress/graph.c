/* SPDX-License-Identifier: Apache-2.0
 *
 * Random dependence graphs against a sequential model. Each address has a version that writers increase without any
 * synchronisation of their own: if the runtime drops an edge, a task finds another version than the model foretold (or
 * ThreadSanitizer sees the race). mutexinoutset members increase a plain counter; readers may suspend in between. Some
 * tasks have a priority, some declare that they send: with MARLINE_PRIORITY, priorities climb the graph while it
 * runs. */
#include "stress.h"

#include <marline/marline.h>

#define ADDRESSES 24
#define TASKS 400

static long version[ADDRESSES];
static long members_seen[ADDRESSES];

static void maybe_yield(uint64_t key) {
  if (key % 3 == 0) {
#pragma omp taskyield
  }
}

static void spawn_writer(int a, int b, long expect_a, long expect_b, uint64_t key) {
#pragma omp task depend(inout : version[a]) depend(in : version[b]) firstprivate(a, b, expect_a, expect_b, key) \
    priority((int)(key % 7))
  {
    CHECK(version[a] == expect_a, "address %d: version %ld, model %ld", a, version[a], expect_a);
    CHECK(a == b || version[b] == expect_b, "address %d read: version %ld, model %ld", b, version[b], expect_b);
    maybe_yield(key);
    version[a] = expect_a + 1;
  }
}

static void spawn_reader(int a, int b, long expect_a, long expect_b, uint64_t key) {
#pragma omp task untied depend(in : version[a], version[b]) firstprivate(a, b, expect_a, expect_b, key)
  {
    CHECK(version[a] == expect_a, "address %d: version %ld, model %ld", a, version[a], expect_a);
    maybe_yield(key);
    CHECK(version[b] == expect_b, "address %d: version %ld, model %ld", b, version[b], expect_b);
  }
}

static void spawn_member(int a, uint64_t key) {
#pragma omp task depend(mutexinoutset : members_seen[a]) firstprivate(a, key) priority(key % 5 == 0)
  {
    if (key % 8 == 0) marline_task_sends();
    long seen = members_seen[a];
    maybe_yield(key);
    members_seen[a] = seen + 1;
  }
}

static void one_graph(uint64_t seed) {
  uint64_t state = seed;
  long model[ADDRESSES] = {0};
  long members[ADDRESSES] = {0};
  for (int i = 0; i < ADDRESSES; ++i) version[i] = members_seen[i] = 0;
  for (int t = 0; t < TASKS; ++t) {
    int a = below(&state, ADDRESSES), b = below(&state, ADDRESSES);
    uint64_t key = next_random(&state);
    switch (below(&state, 4)) {
      case 0:
        spawn_writer(a, b, model[a], model[b], key);
        model[a]++;
        break;
      case 1:
      case 2: spawn_reader(a, b, model[a], model[b], key); break;
      default: spawn_member(a, key); members[a]++;
    }
    if (key % 97 == 0) {
#pragma omp taskwait depend(in : version[a])
      CHECK(version[a] == model[a], "after taskwait depend: address %d has %ld, model %ld", a, version[a], model[a]);
    }
  }
#pragma omp taskwait
  for (int i = 0; i < ADDRESSES; ++i) {
    CHECK(version[i] == model[i], "address %d ends at %ld, model %ld", i, version[i], model[i]);
    CHECK(members_seen[i] == members[i], "set %d ends at %ld, model %ld", i, members_seen[i], members[i]);
  }
}

int main(int argc, char** argv) {
  uint64_t seed = argument(argc, argv, 1, 1), rounds = argument(argc, argv, 2, 20);
#pragma omp parallel
#pragma omp single
  for (uint64_t round = 0; round < rounds; ++round) one_graph(seed * 1000003u + round);
  return 0;
}
