/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens a parallel region and prints which library served it, as dladdr sees it: a witness independent of Marline's own
 * check. Options: exit N, signal N, sleep (until a signal), cat (standard input), env NAME.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __clang__
static const char* const kEntry = "__kmpc_fork_call";
#else
static const char* const kEntry = "GOMP_parallel";
#endif

static volatile sig_atomic_t signals;

static void count_signal(int number) {
  (void)number;
  ++signals;
}

static void report(void) {
  int threads = 0;
#pragma omp parallel
  {
#pragma omp atomic
    ++threads;
  }
  Dl_info where;
  void* entry = dlsym(RTLD_DEFAULT, kEntry);
  const char* library = entry != NULL && dladdr(entry, &where) != 0 ? where.dli_fname : "none";
  printf("library=%s threads=%d\n", library, threads);
  fflush(stdout);
}

static void wait_for_signals(void) {
  signal(SIGUSR1, count_signal);
  signal(SIGTERM, count_signal);
  printf("ready\n");
  fflush(stdout);
  while (signals == 0) pause();
  usleep(300000); /* a signal sent twice arrives within this */
  printf("signals=%d\n", (int)signals);
}

int main(int argc, char** argv) {
  report();
  if (argc < 2) return 0;
  if (strcmp(argv[1], "exit") == 0) return atoi(argv[2]);
  if (strcmp(argv[1], "signal") == 0) raise(atoi(argv[2]));
  if (strcmp(argv[1], "sleep") == 0) wait_for_signals();
  if (strcmp(argv[1], "env") == 0) printf("%s=%s\n", argv[2], getenv(argv[2]) ? getenv(argv[2]) : "");
  if (strcmp(argv[1], "cat") == 0) {
    for (int c; (c = getchar()) != EOF;) putchar(c);
  }
  return 0;
}
