/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stress programs share: a seeded generator and a check that ends the program. Each program takes
 * SEED ROUNDS on its command line, so that a failure is repeated with the same seed (and MARLINE_SCHEDULE=random:SEED).
 */
#ifndef MARLINE_STRESS_H
#define MARLINE_STRESS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition, ...)                                         \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                   \
      fputc('\n', stderr);                                            \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* splitmix64 (Steele, Lea, Flood, 2014). */
static inline uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static inline int below(uint64_t* state, int limit) { return (int)(next_random(state) % (uint64_t)limit); }

static inline uint64_t argument(int argc, char** argv, int index, uint64_t otherwise) {
  return argc > index ? strtoull(argv[index], NULL, 10) : otherwise;
}

#endif
