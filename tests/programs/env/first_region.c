/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the machine's description is read, and how. A program that does not bind its threads reads nothing of it. One
 * that does reads what Linux shows in /sys. hwloc, which takes milliseconds, is asked only where its own variables are
 * set (and where /sys says too little). The program's openat and hwloc_topology_init replace the functions of the
 * libraries, and count the calls. hwloc then seems to fail, which the runtime survives.
 *
 * Arguments: `nothing`, `sys` or `hwloc`, what is to be read.
 *
 * Covers: parallel(reduction)
 */
#include "../check.h"
#include <fcntl.h>
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>

static int files, descriptions;

int openat(int folder, const char* path, int flags, ...) {
  if (strstr(path, "topology/") || strstr(path, "cache/index")) __atomic_add_fetch(&files, 1, __ATOMIC_RELAXED);
  return (int)syscall(SYS_openat, folder, path, flags, 0);
}

int hwloc_topology_init(void** topology) {
  *topology = NULL;
  __atomic_add_fetch(&descriptions, 1, __ATOMIC_RELAXED);
  return -1;
}

static int sys_has_lists(void) {
  const char* cores = "/sys/devices/system/cpu/cpu%d/topology/%s";
  char path[128];
  int cpu = sched_getcpu();
  snprintf(path, sizeof path, cores, cpu, "core_cpus_list");
  if (access(path, R_OK) == 0) return 1;
  snprintf(path, sizeof path, cores, cpu, "thread_siblings_list");
  return access(path, R_OK) == 0;
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  threads++;
  CHECK_EQ(threads, omp_get_max_threads());
  const int found = descriptions;
  if (strcmp(argv[1], "nothing") == 0) {
    CHECK_EQ(files, 0);
    CHECK_EQ(found, 0);
  } else if (strcmp(argv[1], "hwloc") == 0) {
    CHECK_EQ(files, 0);
    CHECK_EQ(found, 1);
  } else if (sys_has_lists()) {
    CHECK_RANGE(files, 1, 100000);
    CHECK_EQ(found, 0);
  }
  return 0;
}
