/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts the command. It is started through a shell that ends at once, so that it is not a child of the program, which
 * may wait for its own children. It is started without the libraries that are preloaded here, because it is an ordinary
 * program.
 */
#include "inspect/watch.h"

#include <dlfcn.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mpi_library.h"
#include "base/report.h"

extern char** environ;

/* Finds PREFIX/bin/marline, from PREFIX/lib/marline/MPI/libmarline-mpi.so. Returns false if it is not there. */
static bool find_command(char* path, size_t bytes) {
  Dl_info self;
  char real[PATH_MAX];
  if (dladdr((const void*)&next_mpi, &self) == 0 || realpath(self.dli_fname, real) == NULL) return false;
  for (int up = 0; up < 4; ++up) {
    char* slash = strrchr(real, '/');
    if (slash == NULL) return false;
    *slash = '\0';
  }
  const int length = snprintf(path, bytes, "%s/bin/marline", real);
  return length > 0 && (size_t)length < bytes && access(path, X_OK) == 0;
}

static bool is_ours(const char* variable) {
  return strncmp(variable, "LD_PRELOAD=", 11) == 0 || strncmp(variable, "LD_LIBRARY_PATH=", 16) == 0;
}

/* The environment without the variables for this library. The caller frees the list; its strings are the
 * environment's own. */
static char** plain_environment(void) {
  size_t count = 0;
  while (environ[count] != NULL) ++count;
  char** list = calloc(count + 1, sizeof *list);
  size_t kept = 0;
  for (size_t i = 0; list != NULL && i < count; ++i)
    if (!is_ours(environ[i])) list[kept++] = environ[i];
  return list;
}

static bool run_shell(const char* command, const char* seconds, const char* pid) {
  char script[] = "\"$0\" ps --watch \"$1\" \"$2\" &";
  char* const words[] = {"/bin/sh", "-c", script, (char*)command, (char*)seconds, (char*)pid, NULL};
  char** environment = plain_environment();
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  pid_t shell;
  const bool started =
      environment != NULL && posix_spawn(&shell, "/bin/sh", NULL, &attributes, words, environment) == 0;
  posix_spawnattr_destroy(&attributes);
  free(environment);
  int status = 0;
  return started && waitpid(shell, &status, 0) == shell && status == 0;
}

void watch_start(double seconds) {
  char command[PATH_MAX];
  char number[32];
  char pid[16];
  snprintf(number, sizeof number, "%g", seconds);
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  if (!find_command(command, sizeof command) || !run_shell(command, number, pid))
    report_warning(
        "MARLINE_MPI_WATCH: cannot start the command marline, which should lie in bin/ of this installation: "
        "nobody watches; run `marline ps %s` when the program hangs",
        pid);
}
