/* SPDX-License-Identifier: Apache-2.0
 *
 * How many random programs a test runs on the devices at hand.
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

#endif
