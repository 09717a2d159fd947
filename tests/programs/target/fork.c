/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses a device and forks: the child has a device of its own, or ends with a line that says that it has
 * none; the parent's goes on, and ends with the parent.
 *
 * Covers: target(map)
 */
#include "device.h"
#include <sys/wait.h>

static int next(int x) {
#pragma omp target map(tofrom : x)
  x++;
  return x;
}

static void child(int line[2]) {
  dup2(line[1], STDERR_FILENO);
  close(line[0]);
  close(line[1]);
  _exit(next(5) == 6 ? 0 : 1);
}

int main(void) {
  char text[1000] = "";
  int line[2], status;
  CHECK_EQ(next(1), 2);
  CHECK_EQ(pipe(line), 0);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0)
    child(line);
  close(line[1]);
  size_t length = 0;
  for (ssize_t got; (got = read(line[0], text + length, sizeof text - 1 - length)) > 0;)
    length += (size_t)got;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  int worked = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  int refused = WIFSIGNALED(status) && strstr(text, "a fork of it has no such devices") != NULL;
  if (!worked && !refused)
    check_failed(__FILE__, __LINE__, "the child's status is %#x, its output: %s", status, text);
  CHECK_EQ(next(2), 3);
  return 0;
}
