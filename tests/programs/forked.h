/* SPDX-License-Identifier: Apache-2.0
 *
 * Children by fork(), and how they ended. (child.h runs the program again instead.)
 */
#ifndef PROGRAMS_FORKED_H
#define PROGRAMS_FORKED_H

#include "check.h"
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* fork(). A child that hangs ends with its parent, by a signal: threads of the runtime take no other. */
static inline pid_t fork_bound(void) {
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) CHECK_EQ(prctl(PR_SET_PDEATHSIG, SIGKILL), 0);
  return child;
}

static inline void expect_exit(pid_t child, int expected) {
  int status;
  CHECK(child > 0);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), expected);
}

#endif
