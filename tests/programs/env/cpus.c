/* SPDX-License-Identifier: Apache-2.0
 *
 * A process that is bound to some CPUs (taskset, a batch system, `mpirun --bind-to core`) has as many threads as CPUs,
 * and places among these CPUs, unless more are asked for. The program runs itself again on more and more CPUs.
 *
 * Covers: omp_get_num_procs, omp_get_num_places, omp_get_place_num_procs, omp_get_place_proc_ids,
 *  OMP_NUM_THREADS, OMP_PLACES
 */
#include "../child.h"
#include <omp.h>
#include <sched.h>

/* `cpus`: "0,3,". */
static cpu_set_t set_of(const char* cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (char* end; *cpus != '\0'; cpus = end + 1) CPU_SET(strtol(cpus, &end, 10), &set);
  return set;
}

/* A runtime may have bound the first thread to its place by then. */
static int report(cpu_set_t mine) {
  int threads = 0, outside = 0, cpus = CPU_COUNT(&mine), processors = omp_get_num_procs();
#pragma omp parallel reduction(+ : threads, outside)
  {
    cpu_set_t here;
    sched_getaffinity(0, sizeof here, &here);
    CPU_AND(&here, &here, &mine);
    threads++;
    outside += CPU_COUNT(&here) == 0;
  }
  for (int place = 0; place < omp_get_num_places(); place++) {
    int count = omp_get_place_num_procs(place), *ids = calloc((size_t)count + 1, sizeof *ids);
    omp_get_place_proc_ids(place, ids);
    for (int i = 0; i < count; i++) outside += !CPU_ISSET(ids[i], &mine);
    free(ids);
  }
  printf("cpus=%d processors=%d threads=%d outside=%d.\n", cpus, processors, threads, outside);
  return 0;
}

/* And afresh: a runtime may have looked at the CPUs already. */
static int bind_and_report(const char* cpus) {
  cpu_set_t some = set_of(cpus);
  CHECK_EQ(sched_setaffinity(0, sizeof some, &some), 0);
  execl("/proc/self/exe", "child", "report", cpus, (char*)NULL);
  return 127;
}

static Child child;

static void run(const char* argument, const char* variable) {
  char* variables[] = {variable ? strdup(variable) : NULL, NULL};
  run_child(&child, argument, variables);
  free(variables[0]);
  CHECK_EQ(child.status, 0);
}

static void expect(const char* cpus, const char* variable, int count, int threads) {
  char line[64];
  run(cpus, variable);
  snprintf(line, sizeof line, "cpus=%d processors=%d threads=%d outside=0.", count, count, threads);
  CHECK_LINE(&child, line);
}

int main(int argc, char** argv) {
  if (argc > 2) return report(set_of(argv[2]));
  cpu_set_t all;
  sched_getaffinity(0, sizeof all, &all);
  if (argc > 1) return strcmp(argv[1], "report") == 0 ? report(all) : bind_and_report(argv[1]);
  unsetenv("OMP_NUM_THREADS");
  /* A quota of CPU time may allow less than the binding does. */
  int most = 0;
  run("report", NULL);
  const char* threads = strstr(child.output, "threads=");
  CHECK(threads != NULL && sscanf(threads, "threads=%d", &most) == 1);
  CHECK_RANGE(most, 1, CPU_SETSIZE);
  char cpus[64] = "";
  for (int cpu = 0, count = 0; cpu < CPU_SETSIZE && count < most && count < 4; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    snprintf(cpus + strlen(cpus), sizeof cpus - strlen(cpus), "%d,", cpu);
    count++;
    expect(cpus, NULL, count, count);
    expect(cpus, "OMP_NUM_THREADS=3", count, 3);
    expect(cpus, "OMP_PLACES=threads", count, count);
    expect(cpus, "OMP_PLACES=sockets", count, count);
  }
  return 0;
}
