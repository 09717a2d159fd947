/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OpenMP program may do with its process. `life CASE`; prints `threads=N tasks=N` of the last region.
 *   region     one region with a thousand tasks
 *   cancelled  threads that open regions are cancelled (pthread_cancel) between two of them, one after the other
 *   killed     a region, then SIGSEGV, sent by the program to itself
 *   signals    a timer without SA_RESTART interrupts every wait
 */
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kTasks = 1000, kThreads = 40, kInterrupted = 100 };

static volatile sig_atomic_t alarms;
static int threads, tasks;

static void pause_ms(long ms) {
  struct timespec t = {0, ms * 1000000};
  while (nanosleep(&t, &t) != 0) {
  }
}

static void region(void) {
  threads = tasks = 0;
#pragma omp parallel reduction(+ : threads)
  {
    threads++;
#pragma omp single
    for (int t = 0; t < kTasks; t++) {
#pragma omp task
#pragma omp atomic
      tasks++;
    }
  }
}

static void* regions_until_cancelled(void* started) {
  for (;;) {
    int members = 0;
#pragma omp parallel num_threads(3) reduction(+ : members)
    members++;
    if (members == 3) __atomic_store_n((int*)started, 1, __ATOMIC_RELEASE);
    pthread_testcancel();
  }
  return NULL;
}

static int cancelled(void) {
  for (int i = 0; i < kThreads; i++) {
    int started = 0;
    pthread_t thread;
    void* end = NULL;
    if (pthread_create(&thread, NULL, regions_until_cancelled, &started) != 0) return 0;
    while (!__atomic_load_n(&started, __ATOMIC_ACQUIRE)) pause_ms(1);
    pthread_cancel(thread);
    pthread_join(thread, &end);
    if (end != PTHREAD_CANCELED) return 0;
  }
  region();
  return 1;
}

static void on_alarm(int number) {
  (void)number;
  alarms++;
}

static int signals(void) {
  struct sigaction action = {.sa_handler = on_alarm};
  struct itimerval often = {{0, 500}, {0, 500}};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &often, NULL);
  while (alarms < kInterrupted) {
    region();
    if (tasks != kTasks) return 0;
    pause_ms(5); /* the workers go to sleep */
  }
  return 1;
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  int right = 1;
  if (strcmp(name, "cancelled") == 0) {
    right = cancelled();
  } else if (strcmp(name, "signals") == 0) {
    right = signals();
  } else if (strcmp(name, "killed") == 0) {
    region();
    kill(getpid(), SIGSEGV);
    puts("survived");
  } else {
    region();
  }
  printf("threads=%d tasks=%d\n", threads, tasks);
  return right ? 0 : 1;
}
