// SPDX-License-Identifier: Apache-2.0
// The tasks have no order, but a mutex of pthreads around what they share.
// Expect: clean
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static int run(void) {
  for (int i = 0; i < 100; i++) {
#pragma omp task
    {
      pthread_mutex_lock(&mutex);
      count++;
      pthread_mutex_unlock(&mutex);
    }
  }
#pragma omp taskwait
  return count != 100;
}

int main(void) {
  int failed = 0;
#pragma omp parallel
#pragma omp single
  failed = run();
  printf("%s\n", failed ? "wrong" : "right");
  return failed;
}
