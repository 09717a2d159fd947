// SPDX-License-Identifier: Apache-2.0
//
// See the header. A dispatcher is its own thread's but for the list of work.
#include "device/processor/dispatcher.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/base/tell.hpp"
#include "device/processor/shared_cpu.hpp"
#include "marline/devices.h"
#include "marline/marline.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstring>

extern "C" int omp_get_max_threads();

namespace marline::target {

namespace {

constexpr uint64_t kPatience = 50'000;                 // nanoseconds: some round trips
constexpr uint64_t kAlone = 2'000;                     // of it without giving way to other threads of the CPU
constexpr int kLooksPerYield = 16;                     // while there is no kernel: to yield takes as long as some looks
constexpr uint64_t kAway = 1'500;                      // to give way takes longer: another thread has run
constexpr size_t kUnlimitedStack = size_t{256} << 20;  // the C library would take 2 MiB

struct Dispatcher {
  WorkSource source;
  const CpuPart* part;  // null: all CPUs
  Lock lock;            // over the next three
  WorkList work;
  bool sleeps = false;  // the dispatcher, for `arrival`
  marline_event_t arrival;
  std::atomic<uint64_t> looked{0};  // by the dispatcher; a hint for others
  std::atomic<int> kernels{0};      // that it has made tasks of, and that have not ended
  SharedCpu cpu;
};

Dispatcher g_dispatchers[kMostDispatchers];
std::atomic<int> g_count{0};  // of those that are started; released by who starts one

template <class Function>
void for_all_dispatchers(Function function) {
  int count = g_count.load(std::memory_order_acquire);  // pairs with start_dispatcher
  for (int i = 0; i < count; ++i) function(g_dispatchers[i]);
}

// Takes all that have arrived, in order; null: none, and with `wait` somebody is going to fulfil `arrival`.
Work* take_arrived(Dispatcher& own, bool wait) {
  Guard guard(own.lock);
  Work* work = own.work.first;
  own.work.first = nullptr;
  own.work.last = &own.work.first;
  if (work == nullptr && wait) {
    marline_event_init(&own.arrival);
    own.sleeps = true;
  }
  return work;
}

// Kernels that have no thread yet run when this one yields. Their count is a hint here.
bool receive(const Dispatcher& own) {
  int left = own.kernels.load(std::memory_order_relaxed) == 0 ? kLooksPerYield : 1;
  while (left-- > 0) {
    if (own.source.receive()) return true;
  }
  return false;
}

// The next command of a chain follows soon, so the dispatcher looks for it for a while, and runs kernels meanwhile. The
// system likes to wake this thread on the CPU of the thread that sends commands: that one needs the CPU to send the next.
Work* look_for_work(Dispatcher& own) {
  uint64_t begin = now(), time = begin;
  bool was_away = false;
  do {
    bool has_come = receive(own);
    if (Work* work = take_arrived(own, false)) {
      own.cpu.note_command(was_away, time);  // not of parts of a large copy, whose sender is busy on its own CPU
      return work;
    }
    if (has_come) {
      begin = time;
      was_away = false;  // what comes next comes while this thread looks
    }
    uint64_t before = time;
#pragma omp taskyield
    time = now();
    // A kernel has run here, perhaps. On a cluster it adds what can run behind it, for which this thread need not give way.
    Work* work = time - before > kAlone ? take_arrived(own, false) : nullptr;
    if (work != nullptr) return work;
    own.looked.store(time, std::memory_order_relaxed);
    if (time - begin <= kAlone) continue;
    sched_yield();
    uint64_t back = now();
    was_away = back - time > kAway;
    time = back;
  } while (time - begin < kPatience);
  return nullptr;
}

// False also with `work`: a kernel adds what can run behind it, and is counted off afterwards. seq_cst as in run_kernel.
bool wait_alone(Dispatcher& own, Work*& work) {
  if (own.source.wait == nullptr || own.kernels.load() != 0) return false;
  work = take_arrived(own, false);
  return work == nullptr && own.source.wait();
}

void resume(const Dispatcher& own) {
  if (own.source.resume != nullptr) own.source.resume();
}

// Waits until there is some.
Work* take_work(Dispatcher& own) {
  for (;;) {
    Work* work = look_for_work(own);
    if (work == nullptr && wait_alone(own, work)) continue;
    resume(own);
    if (work == nullptr) work = take_arrived(own, true);
    if (work != nullptr) return work;
    own.source.announce();
    (void)own.source.receive();
    static constexpr const char* kNames[] = {nullptr};
    static constexpr marline_wait_t kWhy = {"commands", kNames, {}, nullptr, 0, 0};  // python/marline/ps/workers.py
    marline_event_wait_for(&own.arrival, &kWhy);
  }
}

void wake(Dispatcher& sleeper) {
  bool wakes;
  {
    Guard guard(sleeper.lock);
    wakes = sleeper.sleeps;
    sleeper.sleeps = false;
  }
  if (wakes) marline_event_fulfill(&sleeper.arrival);  // whoever it wakes wants the lock
}

// Behind the last one, the dispatcher may wait for the next itself.
void run_kernel(Dispatcher* own, Work* work) {
  work->run(work);
  if (own->kernels.fetch_sub(1) == 1 && own->source.wait != nullptr) wake(*own);
}

// The body of an untied task of a parallel region whose threads wait for tasks. When its thread runs a kernel, another
// thread that is idle goes on with it.
void dispatch(Dispatcher& own) {
  for (;;) {
    for (Work* work = take_work(own); work != nullptr;) {
      Work* next = work->next;
      if (work->is_kernel) {
        own.kernels.fetch_add(1);
        Dispatcher* self = &own;
#pragma omp task firstprivate(self, work) untied
        run_kernel(self, work);
      } else {
        work->run(work);  // before a thread is free
      }
      work = next;
    }
  }
}

// Of the threads that the process may have, as many as the part has of the CPUs.
int threads_of(const CpuPart* part) {
  int all = omp_get_max_threads();
  return part != nullptr ? std::max(1, all * part->count / part->of) : all;
}

void keep_to(const CpuPart& part, int threads) {
  int error = marline_thread_share(part.cpus, kCpuWords, threads);
  if (error != 0) fatal("the threads of a device cannot be bound to its %d CPUs: %s", part.count, strerror(error));
}

void* serve(void* data) {
  Dispatcher* own = static_cast<Dispatcher*>(data);
  int threads = threads_of(own->part);
  if (own->part != nullptr) keep_to(*own->part, threads);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    if (own->source.begin != nullptr) own->source.begin();
#pragma omp task untied firstprivate(own)
    dispatch(*own);
  }
  return nullptr;
}

}  // namespace

// With a stack as large as that of a program's first thread may become.
void start_dispatcher(const WorkSource& source, const CpuPart* part) {
  int number = g_count.load(std::memory_order_relaxed);
  Dispatcher& own = g_dispatchers[number];
  own.source = source;
  own.part = part;
  g_count.store(number + 1, std::memory_order_release);  // pairs with for_all_dispatchers
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
    pthread_attr_setstacksize(&attributes, kUnlimitedStack);
  }
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, serve, &own);
  pthread_attr_destroy(&attributes);
  char why[256];
  if (error != 0) {
    fatal("no thread can be created for a device's kernels: %s", marline_describe_refusal(error, 0, why, sizeof why));
  }
}

void add_work(WorkList& list, int dispatcher) {
  if (list.first == nullptr) return;
  Dispatcher& receiver = g_dispatchers[dispatcher];
  {
    Guard guard(receiver.lock);
    *receiver.work.last = list.first;
    receiver.work.last = list.last;
  }
  wake(receiver);
}

Work* take_other_work() {
  WorkList others;
  for_all_dispatchers([&others](Dispatcher& dispatcher) {
    Guard guard(dispatcher.lock);
    Work** link = &dispatcher.work.first;
    while (Work* work = *link) {
      if (work->is_kernel) {
        link = &work->next;
        continue;
      }
      *link = work->next;
      others.append(work);
    }
    dispatcher.work.last = link;
  });
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
  bool all = true;
  for_all_dispatchers([&all](Dispatcher& dispatcher) {
    Guard guard(dispatcher.lock);
    all = all && dispatcher.sleeps;
  });
  return all;
}

uint64_t dispatcher_looked() {
  uint64_t last = 0;
  for_all_dispatchers([&last](const Dispatcher& dispatcher) {
    last = std::max(last, dispatcher.looked.load(std::memory_order_relaxed));
  });
  return last;
}

}  // namespace marline::target
