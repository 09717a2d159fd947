/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs for devices share. OpenMP leaves it to the device whether it keeps copies of what is mapped or uses
 * the host's memory. A program asks here before it expects to see a copy: the default device then has one. The devices
 * of Marline always keep copies; a build without offloading runs its regions on the host and has none.
 */
#ifndef PROGRAMS_TARGET_DEVICE_H
#define PROGRAMS_TARGET_DEVICE_H

#include "../check.h"
#include <omp.h>

/* 1 if a write on the host stays unseen by a region until the next transfer. */
static inline int device_copies(int device) {
  int probe = 1, seen = 0;
#pragma omp target enter data map(to : probe) device(device)
  probe = 2;
#pragma omp target map(to : probe) map(from : seen) device(device)
  seen = probe;
#pragma omp target exit data map(delete : probe) device(device)
  return seen == 1;
}

static inline int own_copies(void) {
  static int known = -1;
  int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (now < 0) {
    now = device_copies(omp_get_default_device());
    __atomic_store_n(&known, now, __ATOMIC_RELAXED);
  }
  return now;
}

/* How many devices, from 0 on, have a data environment of their own: a cluster and its members, which follow, have one.
 */
static inline int own_environments(void) {
  int probe = 1, devices = omp_get_num_devices();
  if (devices < 2) return devices;
#pragma omp target enter data map(to : probe) device(0)
  int is_shared = omp_target_is_present(&probe, 1);
#pragma omp target exit data map(delete : probe) device(0)
  return is_shared ? 1 : devices;
}

/* The value that a copy on the device gives, and the one that shared memory gives. */
#define CHECK_COPY(actual, with_copy, shared) CHECK_EQ(actual, own_copies() ? (with_copy) : (shared))

/* Whether the default device has the object in its table. Shared memory is always present. */
#define CHECK_PRESENT(object, expected) \
  CHECK_EQ(omp_target_is_present(object, omp_get_default_device()) != 0, own_copies() ? (expected) : 1)

#endif
