/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command, with more in its environment, and says how long it lived, from before its fork until it was waited
 * for: `lifetime VALUE ms`, from the first process of an MPI job only. Ends with the command's exit status; 1 if a
 * signal ended it. The environment is set here because a command `env` would live, too.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char** environ;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int is_first(void) {
  const char* number = getenv("OMPI_COMM_WORLD_RANK");
  if (!number) number = getenv("PMI_RANK");
  return !number || !strcmp(number, "0");
}

int main(int argc, char** argv) {
  pid_t child;
  int status, command = 1;
  for (; command < argc && strchr(argv[command], '='); ++command) putenv(argv[command]);
  if (command == argc) {
    fprintf(stderr, "usage: lifetime [NAME=VALUE]... COMMAND [ARGUMENT]...\n");
    return 1;
  }
  double begin = now_ms();
  int error = posix_spawnp(&child, argv[command], NULL, NULL, argv + command, environ);
  if (error) {
    fprintf(stderr, "lifetime: %s: %s\n", argv[command], strerror(error));
    return 1;
  }
  waitpid(child, &status, 0);
  if (is_first()) printf("lifetime %.3f ms\n", now_ms() - begin);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
