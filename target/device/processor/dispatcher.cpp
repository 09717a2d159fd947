// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "device/processor/dispatcher.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/base/tell.hpp"
#include "marline/devices.h"

#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <cstring>

namespace marline::target {

namespace {

constexpr uint64_t kPatience = 50'000;                 // nanoseconds: some round trips
constexpr size_t kUnlimitedStack = size_t{256} << 20;  // the C library would take 2 MiB

WorkSource g_source;
Lock g_lock;  // over the next three
WorkList g_work;
bool g_sleeps = false;  // the dispatcher, for g_arrival
marline_event_t g_arrival;
std::atomic<uint64_t> g_looked{0};  // by the dispatcher; a hint for others

// Takes all that have arrived, in order; null: none, and with `wait` somebody is going to fulfil g_arrival.
Work* take_arrived(bool wait) {
  Guard guard(g_lock);
  Work* work = g_work.first;
  g_work.first = nullptr;
  g_work.last = &g_work.first;
  if (work == nullptr && wait) {
    marline_event_init(&g_arrival);
    g_sleeps = true;
  }
  return work;
}

// Waits until there is some. The next command of a chain follows soon, so the dispatcher looks for it for a while, and
// runs kernels meanwhile, before it sleeps.
Work* take_work() {
  uint64_t time = now(), end = time + kPatience;
  do {
    g_source.receive();
    if (Work* work = take_arrived(false)) return work;
#pragma omp taskyield
    time = now();
    g_looked.store(time, std::memory_order_relaxed);
  } while (time < end);
  for (;;) {
    if (Work* work = take_arrived(true)) return work;
    g_source.announce();
    g_source.receive();
    marline_event_wait(&g_arrival);
  }
}

// The body of an untied task of a parallel region whose threads wait for tasks. When its thread runs a kernel, another
// thread that is idle goes on with it.
void dispatch() {
  for (;;) {
    for (Work* work = take_work(); work != nullptr;) {
      Work* next = work->next;
      if (work->is_kernel) {
#pragma omp task firstprivate(work) untied
        work->run(work);
      } else {
        work->run(work);  // before a thread is free
      }
      work = next;
    }
  }
}

void* serve(void*) {
#pragma omp parallel
#pragma omp single
  {
    g_source.begin();
#pragma omp task untied
    dispatch();
  }
  return nullptr;
}

}  // namespace

// With a stack as large as that of a program's first thread may become.
void start_dispatcher(const WorkSource& source) {
  g_source = source;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
    pthread_attr_setstacksize(&attributes, kUnlimitedStack);
  }
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, serve, nullptr);
  pthread_attr_destroy(&attributes);
  if (error != 0) fatal("no thread can be created for a device's kernels: %s", strerror(error));
}

void add_work(WorkList& list) {
  if (list.first == nullptr) return;
  Guard guard(g_lock);
  *g_work.last = list.first;
  g_work.last = list.last;
  if (!g_sleeps) return;
  g_sleeps = false;
  marline_event_fulfill(&g_arrival);
}

Work* take_other_work() {
  WorkList others;
  Guard guard(g_lock);
  Work** link = &g_work.first;
  while (Work* work = *link) {
    if (work->is_kernel) {
      link = &work->next;
      continue;
    }
    *link = work->next;
    others.append(work);
  }
  g_work.last = link;
  return others.first;
}

void run_all(Work* work) {
  while (work != nullptr) {
    Work* next = work->next;
    work->run(work);
    work = next;
  }
}

bool dispatcher_sleeps() {
  Guard guard(g_lock);
  return g_sleeps;
}

uint64_t dispatcher_looked() { return g_looked.load(std::memory_order_relaxed); }

}  // namespace marline::target
