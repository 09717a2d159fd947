/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts StarPU with CPU workers only and a temporary folder.
 */
#ifndef _GNU_SOURCE /* for nftw; some compile commands define it already */
#define _GNU_SOURCE
#endif
#include "starpu/start.h"

#include <ftw.h>
#include <limits.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int remove_entry(const char* path, const struct stat* info, int type, struct FTW* level) {
  (void)info, (void)type, (void)level;
  return remove(path);
}

int starpu_start(int workers) {
  const char* parent = getenv("TMPDIR");
  char home[PATH_MAX], count[16];
  snprintf(home, sizeof home, "%s/starpu-XXXXXX", parent ? parent : "/tmp");
  if (!mkdtemp(home)) return kNoFolder;
  setenv("STARPU_HOME", home, 1);
  setenv("STARPU_SILENT", "1", 1);
  snprintf(count, sizeof count, "%d", workers);
  setenv("STARPU_NCPU", count, 1); /* the environment wins over starpu_conf, so that STARPU_SCHED remains the user's */
  struct starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncuda = conf.nopencl = conf.nmic = conf.nmpi_ms = 0;
  conf.bus_calibrate = 0;
  conf.catch_signals = 0;
  int error = starpu_init(&conf);
  if (nftw(home, remove_entry, 8, FTW_DEPTH | FTW_PHYS)) return kNoFolder;
  return error;
}
