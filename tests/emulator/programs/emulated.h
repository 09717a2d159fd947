/* SPDX-License-Identifier: Apache-2.0
 *
 * For programs that must run on emulated GPUs: what the emulator has done so far, and the time. Called by any thread.
 */
#ifndef EMULATED_H
#define EMULATED_H

#include "../../programs/check.h"
#include "../counts.h"

#include <omp.h>

static inline unsigned long long emulated(int what) {
  void* driver = dlopen("libcuda.so", RTLD_NOW | RTLD_NOLOAD);
  unsigned long long (*count)(int) =
      driver ? (unsigned long long (*)(int))dlsym(driver, "marline_emulator_count") : NULL;
  if (!count) check_failed(__FILE__, __LINE__, "no emulated CUDA driver in this process");
  unsigned long long value = count(what);
  dlclose(driver);
  return value;
}

#endif
