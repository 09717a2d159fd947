/* SPDX-License-Identifier: Apache-2.0
 *
 * Example: a task waits for something that happens elsewhere without holding a core.
 *
 * A "disk" thread answers read requests, slowly: it looks for the best order first, once all have come. Sixteen tasks
 * ask and wait; also on one OpenMP thread all sixteen requests are under way at once, because a waiting task leaves its
 * thread to the others.
 *
 * Covers: marline events
 */
#include "../check.h"
#include <marline/marline.h>
#include <pthread.h>

enum { kRequests = 16 };

typedef struct {
  int block, data;
  marline_event_t done;
} Request;

static Request* queue[kRequests];
static int queued, most_under_way;

static void* disk(void* unused) {
  (void)unused;
  for (int i = 0; i < 100000 && __atomic_load_n(&queued, __ATOMIC_RELAXED) < kRequests; i++) usleep(50);
  for (int served = 0; served < kRequests; served++) {
    Request* request;
    while (!(request = __atomic_load_n(&queue[served], __ATOMIC_ACQUIRE))) usleep(50);
    usleep(1000);
    int under_way = __atomic_load_n(&queued, __ATOMIC_RELAXED) - served;
    most_under_way = under_way > most_under_way ? under_way : most_under_way;
    request->data = request->block * 10;
    marline_event_fulfill(&request->done); /* from here on the request may be gone */
  }
  return NULL;
}

static int read_block(int block) {
  Request request = {block, 0, MARLINE_EVENT_INIT};
  int slot = __atomic_fetch_add(&queued, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&queue[slot], &request, __ATOMIC_RELEASE);
  marline_event_wait(&request.done); /* suspends the task, not the thread */
  return request.data;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, disk, NULL), 0);
  int sum = 0;
#pragma omp parallel
#pragma omp single
  for (int block = 0; block < kRequests; block++) {
#pragma omp task shared(sum)
    {
      int data = read_block(block);
#pragma omp atomic
      sum += data;
    }
  }
  CHECK_EQ(pthread_join(thread, NULL), 0);
  printf("sum %d, up to %d requests at once\n", sum, most_under_way);
  CHECK_EQ(sum, 10 * kRequests * (kRequests - 1) / 2);
  CHECK_EQ(most_under_way, kRequests);
  return 0;
}
