/* SPDX-License-Identifier: Apache-2.0
 *
 * How many random programs a test runs on the devices at hand, and the numbers that they are made of.
 */
#ifndef PROGRAMS_TARGET_RANDOM_ROUNDS_H
#define PROGRAMS_TARGET_RANDOM_ROUNDS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of so many on the host. Beside a load, each message to another process waits for a CPU. */
static uint64_t rounds_here(uint64_t rounds) {
  const char* devices = getenv("MARLINE_DEVICES");
  int is_far = devices && (strstr(devices, "nodes") || strstr(devices, "cluster"));
  if (getenv("MARLINE_EXHAUSTIVE")) return rounds * 50;
  return devices && strstr(devices, "host") ? rounds : rounds / (is_far ? 50 : 5);
}

static uint64_t state;

/* splitmix64 (Steele, Lea, Flood, 2014). */
static int below(int limit) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (int)((z ^ (z >> 31)) % (uint64_t)limit);
}

#endif
