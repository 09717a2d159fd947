/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device must not have of the program that starts it: a pipe with a reader that waits for the pipe's end,
 * signals that a terminal sends to all processes. And the start waits for no thread that reads from a file.
 *
 * Covers: target(map)
 */
#include "../device.h"
#include <pthread.h>
#include <signal.h>

static volatile sig_atomic_t interrupts;

static void note_interrupt(int signal) {
  (void)signal;
  interrupts++;
}

static void* read_one(void* file) {
  CHECK_EQ(fgetc(file), 'x');
  return NULL;
}

static int next(int x) {
#pragma omp target map(tofrom : x)
  x++;
  return x;
}

int main(void) {
  pthread_t reader;
  int ends[2];
  CHECK_EQ(setpgid(0, 0), 0); /* ctest is in the old group */
  signal(SIGINT, note_interrupt);
  signal(SIGUSR1, note_interrupt);
  CHECK_EQ(pipe(ends), 0);
  FILE* file = fdopen(ends[0], "r");
  CHECK_EQ(pthread_create(&reader, NULL, read_one, file), 0);
  FILE* command = popen("cat > /dev/null", "w");
  CHECK(command != NULL);
  usleep(100000); /* the reader reads */

  CHECK_EQ(next(1), 2);
  CHECK_EQ(write(ends[1], "x", 1), 1);
  CHECK_EQ(pthread_join(reader, NULL), 0);
  CHECK_EQ(pclose(command), 0);
  kill(0, SIGINT);
  kill(0, SIGUSR1);
  usleep(100000); /* devices without a handler would end meanwhile */
  CHECK_EQ(interrupts, 2);
  CHECK_EQ(next(2), 3);
  return 0;
}
