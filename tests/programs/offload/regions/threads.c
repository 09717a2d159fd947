/* SPDX-License-Identifier: Apache-2.0
 *
 * Many threads map, use and give back the same data at once: counts stay right, the first one in transfers before
 * anybody uses the data, and the last one out brings it back.
 *
 * Covers: target(map, nowait), target data(map), target enter data(map:to), target exit data(map:from),
 *  target update(to, from)
 */
#include "../device.h"
#include <pthread.h>

#define THREADS 4
#define ROUNDS 60
#define N 64

static int shared[N], read_only[N];

/* Everybody enters, reads, and leaves; what is read is there from the first moment on. */
static void* readers(void* argument) {
  long wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int sum = 0;
#pragma omp target enter data map(to : read_only)
#pragma omp target map(tofrom : sum) map(to : read_only)
    for (int i = 0; i < N; i++) sum += read_only[i];
#pragma omp target exit data map(release : read_only)
    wrong += sum != N * (N - 1) / 2;
    sum = 0;
#pragma omp target map(tofrom : sum) map(to : read_only)
    for (int i = N / 2; i < N; i++) sum += read_only[i];
    wrong += sum != N * (N - 1) / 2 - (N / 2) * (N / 2 - 1) / 2;
  }
  *(long*)argument = wrong;
  return NULL;
}

static void on_threads(void* (*what)(void*)) {
  pthread_t threads[THREADS];
  long wrong[THREADS];
  for (int t = 0; t < THREADS; t++) CHECK_EQ(pthread_create(&threads[t], NULL, what, &wrong[t]), 0);
  for (int t = 0; t < THREADS; t++) {
    CHECK_EQ(pthread_join(threads[t], NULL), 0);
    CHECK_EQ(wrong[t], 0);
  }
}

/* Each thread has data of its own beside the others', under the same table. */
static void* owners(void* argument) {
  long wrong = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int mine[N], *heap = malloc(sizeof mine);
    for (int i = 0; i < N; i++) mine[i] = heap[i] = i;
#pragma omp target data map(tofrom : mine) map(to : heap[0 : N])
    {
#pragma omp target map(tofrom : mine) map(to : heap[0 : N])
      for (int i = 0; i < N; i++) mine[i] += heap[i];
    }
    for (int i = 0; i < N; i++) wrong += mine[i] != 2 * i;
    free(heap);
  }
  *(long*)argument = wrong;
  return NULL;
}

/* Parts of one mapped array, one part per thread. */
static void parts(void) {
#pragma omp target enter data map(to : shared)
#pragma omp parallel for schedule(dynamic)
  for (int i = 0; i < N; i++) {
    for (int round = 0; round < 5; round++) {
#pragma omp target map(tofrom : shared[i : 1])
      shared[i] += i;
    }
#pragma omp target update from(shared[i : 1])
    if (shared[i] != 5 * i) check_failed(__FILE__, __LINE__, "shared[%d] is %d", i, shared[i]);
  }
#pragma omp target exit data map(from : shared)
  for (int i = 0; i < N; i++) CHECK_EQ(shared[i], 5 * i);
  CHECK_PRESENT(shared, 0);
}

/* Deferred regions of all threads on one counter, which is mapped by these regions alone: the last region copies it
 * back. */
static void deferred(void) {
  int counter = 0;
#pragma omp parallel
  {
    for (int i = 0; i < 10; i++) {
#pragma omp target nowait map(tofrom : counter)
#pragma omp atomic
      counter++;
    }
#pragma omp taskwait
#pragma omp single
    (void)0;
  }
  CHECK_PRESENT(&counter, 0);
  int array[N] = {0}, count = 0;
#pragma omp target data map(tofrom : array, count)
  {
#pragma omp parallel
#pragma omp for
    for (int i = 0; i < N; i++) {
#pragma omp target nowait map(tofrom : array, count) firstprivate(i)
      {
        array[i] = i + 1;
#pragma omp atomic
        count++;
      }
    }
  }
  CHECK_EQ(count, N);
  for (int i = 0; i < N; i++) CHECK_EQ(array[i], i + 1);
}

int main(void) {
  for (int i = 0; i < N; i++) read_only[i] = i;
  on_threads(readers);
  CHECK_PRESENT(read_only, 0);
  on_threads(owners);
  parts();
  deferred();
  return 0;
}
