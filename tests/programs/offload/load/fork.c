/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that uses a device and forks: the child has a device of its own, or ends with a line that says that it has
 * none; the parent's goes on, and ends with the parent. What the child does to data that is mapped stays in the child,
 * and the ends of the parent's regions are the parent's.
 *
 * Covers: target(map), target(nowait, depend), target enter data(map:to), target update(to),
 *   target exit data(map:delete), taskyield, taskwait
 */
#include "../device.h"
#include <pthread.h>
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

static void own_device(void) {
  char text[1000] = "";
  int line[2], status;
  CHECK_EQ(pipe(line), 0);
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) child(line);
  close(line[1]);
  size_t length = 0;
  for (ssize_t got; (got = read(line[0], text + length, sizeof text - 1 - length)) > 0;) length += (size_t)got;
  CHECK_EQ(waitpid(pid, &status, 0), pid);
  int worked = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  int refused = WIFSIGNALED(status) && strstr(text, "a fork of it has no such devices") != NULL;
  if (!worked && !refused) check_failed(__FILE__, __LINE__, "the child's status is %#x, its output: %s", status, text);
  CHECK_EQ(next(2), 3);
}

static void mapped_data(void) {
  int x = 1, seen = 0;
#pragma omp target enter data map(to : x)
  pid_t pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) {
    fclose(stderr); /* it may end with a line */
    x = 42;
#pragma omp target update to(x)
    _exit(0);
  }
  CHECK_EQ(waitpid(pid, NULL, 0), pid);
#pragma omp target map(to : x) map(from : seen)
  seen = x;
  CHECK_EQ(seen, 1);
#pragma omp target exit data map(delete : x)
}

/* A region ends while only the child looks for ends. */
static void under_way(void) {
  int x = 0;
#pragma omp parallel num_threads(1)
  {
#pragma omp target nowait map(tofrom : x)
    {
      usleep(200000);
      x = 1;
    }
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
      for (double end = omp_get_wtime() + 0.5; omp_get_wtime() < end;) {
#pragma omp taskyield
      }
      _exit(0);
    }
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
#pragma omp taskwait
    CHECK_EQ(x, 1);
  }
}

static int forks_end;

static void* fork_often(void* unused) {
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) _exit(0);
    CHECK_EQ(waitpid(pid, NULL, 0), pid);
  }
  __atomic_store_n(&forks_end, 1, __ATOMIC_RELAXED);
  return unused;
}

/* Another thread forks at any moment. */
static void beside_regions(void) {
  pthread_t forks;
  int x = 0, expected = 0;
  CHECK_EQ(pthread_create(&forks, NULL, fork_often, NULL), 0);
#pragma omp parallel num_threads(2)
#pragma omp single
  while (!__atomic_load_n(&forks_end, __ATOMIC_RELAXED)) {
    for (int i = 0; i < 8; i++) {
#pragma omp target nowait map(tofrom : x) depend(inout : x)
      x++;
    }
#pragma omp taskwait
    expected += 8;
  }
  CHECK_EQ(pthread_join(forks, NULL), 0);
  CHECK_EQ(x, expected);
}

int main(void) {
  CHECK_EQ(next(1), 2);
  own_device();
  mapped_data();
  under_way();
  beside_regions();
  return 0;
}
