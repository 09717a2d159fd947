/* SPDX-License-Identifier: Apache-2.0
 *
 * A child of fork() takes a lock of the checker's that its parent holds, and so does its own child.
 */
#include "lock.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSeconds = 60 };

static Lock lock;

static int child_takes(int further) {
  lock_take(&lock);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds); /* ends a child that spins */
    const int failed = further > 0 ? child_takes(further - 1) : (lock_take(&lock), 0);
    lock_give(&lock);
    _exit(failed);
  }
  int status = 1;
  waitpid(child, &status, 0);
  lock_give(&lock);
  return status != 0;
}

int main(void) {
  const int failed = child_takes(1);
  puts(failed ? "failed" : "done");
  return failed;
}
