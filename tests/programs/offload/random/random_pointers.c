/* SPDX-License-Identifier: Apache-2.0
 *
 * Random programs on the pointers of a structure: the sections that they lead to and the structure are mapped and taken
 * away in any order, by data constructs and by regions that name the structure without a map clause. Where both are
 * there, the pointer leads to the section. The reference is a plain copy of what the host and the device have. SEED
 * ROUNDS.
 *
 * Clang before 22 maps a pointer with its section. Then the structure cannot be mapped afterwards, and a region finds
 * the first of the pointers alone.
 *
 * Covers: target(map, nowait), target enter data(map:to), target exit data(map:from/release), target update(to, from)
 */
#include "../device.h"
#include "random_rounds.h"
#include <stdint.h>

#if !defined(__clang__) || __clang_major__ >= 22
#define MAPS_POINTERS 0
#else
#define MAPS_POINTERS 1
#endif

enum { kN = 40, kSteps = 40 };

typedef struct {
  int head;
  int* a;
  int middle;
  int* b;
  int tail;
} Node;

typedef struct {
  int a[kN], b[kN], head, tail;
} Values;

static Node one;
static Values host, device;
static int array[2][kN];
static int has_whole, has_a, has_b;

static void write_host(int salt) {
  for (int i = 0; i < kN; i++) {
    one.a[i] = host.a[i] = salt + i;
    one.b[i] = host.b[i] = salt - i;
  }
  one.head = host.head = salt;
  one.tail = host.tail = 2 * salt;
}

static void change_a(void) {
  if (has_a) {
    if (below(2)) {
#pragma omp target exit data map(from : one.a[0 : kN])
      memcpy(host.a, device.a, sizeof host.a);
    } else {
#pragma omp target exit data map(release : one.a[0 : kN])
    }
  } else {
#pragma omp target enter data map(to : one.a[0 : kN])
    memcpy(device.a, host.a, sizeof host.a);
  }
  has_a = !has_a;
}

static void change_b(void) {
  if (has_b) {
#pragma omp target exit data map(from : one.b[0 : kN])
    memcpy(host.b, device.b, sizeof host.b);
  } else {
#pragma omp target enter data map(to : one.b[0 : kN])
    memcpy(device.b, host.b, sizeof host.b);
  }
  has_b = !has_b;
}

static void change_whole(void) {
  if (MAPS_POINTERS && (has_a || has_b)) return;
  if (has_whole) {
#pragma omp target exit data map(from : one)
    host.head = device.head, host.tail = device.tail;
  } else {
#pragma omp target enter data map(to : one)
    device.head = host.head, device.tail = host.tail;
  }
  has_whole = !has_whole;
}

/* The region maps the structure for itself if it is not there. */
static void use(int salt) {
  int first = salt % kN, uses_a = has_a, uses_b = has_b && (has_whole || !MAPS_POINTERS || !has_a);
  int uses_rest = has_whole || !MAPS_POINTERS || !(has_a || has_b);
  Values* rest = has_whole ? &device : &host;
  if (salt % 2) {
#pragma omp target firstprivate(salt, first, uses_a, uses_b, uses_rest)
    {
      if (uses_a) one.a[first] += salt;
      if (uses_b) one.b[kN - 1 - first] *= 3;
      if (uses_rest) one.head += 5, one.tail ^= salt;
    }
  } else {
#pragma omp target firstprivate(salt, first, uses_a, uses_b, uses_rest) nowait
    {
      if (uses_a) one.a[first] += salt;
      if (uses_b) one.b[kN - 1 - first] *= 3;
      if (uses_rest) one.head += 5, one.tail ^= salt;
    }
#pragma omp taskwait
  }
  if (uses_a) device.a[first] += salt;
  if (uses_b) device.b[kN - 1 - first] *= 3;
  if (uses_rest) rest->head += 5, rest->tail ^= salt;
}

static void update(void) {
  if (below(2)) {
#pragma omp target update to(one.a[3 : 20])
    if (has_a) memcpy(device.a + 3, host.a + 3, 20 * sizeof(int));
  } else {
#pragma omp target update from(one.b[0 : 11])
    if (has_b) memcpy(host.b, device.b, 11 * sizeof(int));
  }
}

static void check(uint64_t seed, int step, int what) {
  int same = memcmp(one.a, host.a, sizeof host.a) == 0 && memcmp(one.b, host.b, sizeof host.b) == 0 &&
             one.head == host.head && one.tail == host.tail && one.a == array[0] && one.b == array[1];
  if (!same)
    check_failed("seed", (int)seed, "the host after step %d (%d) differs: whole %d, a %d, b %d", step, what, has_whole,
                 has_a, has_b);
}

static void run(uint64_t seed) {
  state = seed;
  one.a = array[0], one.b = array[1];
  write_host(100);
  for (int step = 0; step < kSteps; step++) {
    int what = below(7);
    switch (what) {
      case 0: write_host(below(1000)); break;
      case 1: change_a(); break;
      case 2: change_b(); break;
      case 3: change_whole(); break;
      case 4: update(); break;
      default: use(below(1000)); break;
    }
    check(seed, step, what);
  }
  if (has_a) change_a();
  if (has_b) change_b();
  if (has_whole) change_whole();
  check(seed, kSteps, 0);
}

int main(int argc, char** argv) {
  uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, rounds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  if (!own_copies()) return 0;
  rounds = rounds_here(rounds);
  for (uint64_t seed = first; seed < first + rounds; seed++) run(seed);
  return 0;
}
