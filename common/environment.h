/* SPDX-License-Identifier: Apache-2.0
 *
 * The one way in which all libraries read the environment. A program may have rights that its user does not have: a
 * set-uid or set-gid program, or one with file capabilities. The kernel reports that (AT_SECURE, getauxval(3)). The
 * user who starts such a program sets its variables. They must not make it load code, write files, or reach other
 * processes, so the program does not see them. The loader and the C library do the same with their own variables
 * (ld.so(8), "secure-execution mode"). For C and C++.
 */
#ifndef MARLINE_COMMON_ENVIRONMENT_H
#define MARLINE_COMMON_ENVIRONMENT_H

#include "launchers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#ifdef __cplusplus
extern "C" {
#endif

extern char** environ;

/* Whether the program has rights that its user does not have. */
static inline bool environment_is_foreign(void) { return getauxval(AT_SECURE) != 0; }

/* The value of a variable that does no harm in a foreign environment, such as a number of threads. NULL: not set. */
static inline const char* harmless_variable(const char* name) { return getenv(name); }

/* The variable's value; NULL: it is not set, or the environment is foreign. */
static inline const char* trusted_variable(const char* name) { return environment_is_foreign() ? NULL : getenv(name); }

/* Whether this process is the one of its job that reports what all of them find alike, such as a misspelt variable: the
 * first rank, and each process that no launcher has started. The launchers' variables say the rank before MPI_Init. A
 * program that a worker of a job starts has MARLINE_JOB_TAKEN, and is no worker. In a foreign environment these
 * variables say nothing. */
static inline bool speaks_for_job(void) {
  if (environment_is_foreign()) return true;
  const char* worker = getenv("MARLINE_JOB_NUMBER");
  if (worker != NULL && *worker != '\0' && strcmp(worker, "0") != 0 && getenv("MARLINE_JOB_TAKEN") == NULL)
    return false;
  for (size_t i = 0; i < kLauncherRanks; ++i) {
    const char* rank = getenv(launcher_ranks[i].rank);
    if (rank != NULL && *rank != '\0') return strcmp(rank, "0") == 0;
  }
  return true;
}

/* Removes all variables that begin with `prefix` from a foreign environment, because another library would obey
 * them. Called while there is one thread. */
static inline void drop_foreign_variables(const char* prefix) {
  const size_t length = strlen(prefix);
  if (!environment_is_foreign() || environ == NULL) return;
  char** to = environ;
  for (char** from = environ; *from != NULL; ++from)
    if (strncmp(*from, prefix, length) != 0) *to++ = *from;
  *to = NULL;
}

#ifdef __cplusplus
}
#endif

#endif
