/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command and says how long it lived, from before its fork until it was waited for: `lifetime VALUE ms`, from the
 * first process of an MPI job only. Ends with the command's exit status; 1 if a signal ended it.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static double now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int is_first(void) {
  const char *number = getenv("OMPI_COMM_WORLD_RANK");
  if (!number) number = getenv("PMI_RANK");
  return !number || !strcmp(number, "0");
}

int main(int argc, char **argv) {
  pid_t child;
  int status;
  double begin = now_ms();
  int error = argc > 1 ? posix_spawnp(&child, argv[1], NULL, NULL, argv + 1, environ) : 0;
  if (argc < 2 || error) {
    fprintf(stderr, "lifetime: %s\n", error ? strerror(error) : "usage: lifetime COMMAND [ARGUMENT]...");
    return 1;
  }
  waitpid(child, &status, 0);
  if (is_first()) printf("lifetime %.3f ms\n", now_ms() - begin);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
