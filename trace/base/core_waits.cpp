// SPDX-License-Identifier: Apache-2.0
//
// See the header. A thread that has ended has left its sum; one that runs is asked for when the sum is needed.
#include "base/core_waits.hpp"

#include "../common/thread_id.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

namespace marline::trace {
namespace {

struct Waiter {
  int tid;
  uint64_t before;  // what the kernel had counted when recording began
  Waiter* next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Waiter* waiters;       // under lock
uint64_t sum;          // under lock: of threads that have ended; once stopped, of all
bool stopped = false;  // under lock

uint64_t counted(int tid) {
  char path[64];
  char text[96];
  snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  text[length > 0 ? length : 0] = '\0';
  unsigned long long ran, waited;
  return sscanf(text, "%llu %llu", &ran, &waited) == 2 ? waited : 0;
}

uint64_t since_begin(const Waiter& waiter) {
  const uint64_t now = counted(waiter.tid);
  return now > waiter.before ? now - waiter.before : 0;
}

uint64_t sum_of_all() {
  uint64_t all = sum;
  for (const Waiter* waiter = waiters; waiter != nullptr && !stopped; waiter = waiter->next)
    all += since_begin(*waiter);
  return all;
}

}  // namespace

void begin_core_waits() {
  auto* waiter = static_cast<Waiter*>(malloc(sizeof(Waiter)));
  if (waiter == nullptr) return;  // then this thread does not count
  const int tid = thread_id();
  *waiter = {tid, counted(tid), nullptr};
  pthread_mutex_lock(&lock);
  waiter->next = waiters;
  waiters = waiter;
  pthread_mutex_unlock(&lock);
}

void end_core_waits() {
  const int tid = thread_id();
  pthread_mutex_lock(&lock);
  for (Waiter** link = &waiters; *link != nullptr; link = &(*link)->next) {
    Waiter* waiter = *link;
    if (waiter->tid != tid) continue;
    if (!stopped) sum += since_begin(*waiter);
    *link = waiter->next;
    free(waiter);
    break;
  }
  pthread_mutex_unlock(&lock);
}

void restart_core_waits() {
  pthread_mutex_lock(&lock);
  sum = 0;
  for (Waiter* waiter = waiters; waiter != nullptr; waiter = waiter->next) waiter->before = counted(waiter->tid);
  pthread_mutex_unlock(&lock);
}

void stop_core_waits() {
  pthread_mutex_lock(&lock);
  sum = sum_of_all();
  stopped = true;
  pthread_mutex_unlock(&lock);
}

uint64_t core_waits() {
  pthread_mutex_lock(&lock);
  const uint64_t all = sum_of_all();
  pthread_mutex_unlock(&lock);
  return all;
}

}  // namespace marline::trace
