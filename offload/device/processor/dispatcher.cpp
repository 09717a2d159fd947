// SPDX-License-Identifier: Apache-2.0
//
// Looks for work, runs it, and hands it between the first thread and the crew. The state of a dispatcher is used by the
// thread that dispatches, except for what `Dispatcher::lock` guards and the atomic members.
#include "device/processor/dispatcher.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "base/now.hpp"
#include "device/processor/shared_cpu.hpp"
#include "marline/devices.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstring>

extern "C" {
int omp_get_max_threads();
int omp_get_num_threads();
int omp_get_thread_num();
}

namespace marline::offload::device {

namespace {

constexpr uint64_t kPatience = 50'000;  // nanoseconds to look for work before it sleeps: some round trips
constexpr uint64_t kAlone = 2'000;      // nanoseconds before it also yields to other threads of the CPU
constexpr int kLooksPerYield = 16;      // while there is no kernel: a yield takes as long as some looks
constexpr uint64_t kAway = 1'500;       // nanoseconds: if a yield takes longer, another thread has run
// The first thread runs kernels again after kSingles of them have come one by one. This number doubles, up to
// kMostSingles, each time that the first thread has run fewer than kFew kernels before the crew was called again.
constexpr int kSingles = 16, kMostSingles = 64 * kSingles, kFew = 8;
constexpr size_t kUnlimitedStack = size_t{256} << 20;  // for "unlimited", for which the C library takes 2 MiB

// Either the first thread or the crew *leads*: it takes the work. While the first thread leads, the crew waits or is
// not started yet. While the crew leads, the first thread waits or runs a kernel.
struct Dispatcher {
  WorkSource source;
  const CpuPart* part;  // null: all CPUs
  Lock lock;            // guards the members from `work` to `crew_is_called`
  WorkList work;
  bool sleeps = false;      // the leader waits for `arrival`
  marline_event_t arrival;  // fulfilled to wake the leader
  bool crew_leads = false;
  bool has_crew = false;
  std::atomic<bool> is_alone{false};  // the first thread runs a kernel; written under the lock
  marline_event_t crew_has_gone;      // the first thread leads again; initialised when the crew is called
  marline_event_t crew_is_called;     // the crew leads again; initialised when the crew gives the work back
  int singles = 0;                    // kernels in a row that have come one by one; used by the crew
  int singles_wanted = kSingles;      // guarded by the lock while the first thread leads; then used by the crew
  int run_alone = kFew;               // kernels that the first thread has run since it leads; guarded by the lock
  int threads = 1;                    // how many threads run kernels
  WorkList held;                      // kernels for which the crew has no thread while the first thread runs one
  std::atomic<bool> has_held{false};  // `held` has kernels: a thread that ends a kernel wakes the crew for them
  std::atomic<uint64_t> looked{0};    // when the dispatcher has last looked for work; a hint for other threads
  std::atomic<int> kernels{0};        // that have become tasks, or run on the first thread, and have not ended
  SharedCpu cpu;
};

thread_local Dispatcher* t_alone = nullptr;  // the dispatcher of this first thread, while it runs a kernel

Dispatcher g_dispatchers[kMostDispatchers];
std::atomic<int> g_count{0};  // started dispatchers; the thread that starts one stores it (release)

template <class Function>
void for_all_dispatchers(Function function) {
  int count = g_count.load(std::memory_order_acquire);  // pairs with start_dispatcher
  for (int i = 0; i < count; ++i) function(g_dispatchers[i]);
}

// Takes all work that has been added, in order. Empty: there is none; with `wait`, `wake` will fulfil `arrival` then.
WorkList take_arrived(Dispatcher& own, bool wait) {
  Guard guard(own.lock);
  WorkList work = own.work.take_all();
  if (work.is_empty() && wait) {
    marline_event_init(&own.arrival);
    own.sleeps = true;
  }
  return work;
}

// Looks for commands several times if there is no kernel, else once: a kernel that has no thread yet can run when this
// thread yields. The count of kernels is a hint here.
bool receive(const Dispatcher& own) {
  int left = own.kernels.load(std::memory_order_relaxed) == 0 ? kLooksPerYield : 1;
  while (left-- > 0) {
    if (own.source.receive()) return true;
  }
  return false;
}

// Whether the crew has to leave the work to the first thread.
bool is_to_give_back(const Dispatcher& own) {
  return own.source.may_run_alone && own.singles >= own.singles_wanted && own.kernels.load() == 0;
}

// Looks for work for a while, as the next command of a chain follows soon, and runs kernels meanwhile. It yields: the
// system often wakes this thread on the CPU of the thread that sends commands, and that thread needs the CPU to send
// the next command.
WorkList look_for_work(Dispatcher& own, bool is_crew) {
  uint64_t begin = now(), time = begin;
  bool was_away = false;
  do {
    bool has_come = receive(own);
    if (WorkList work = take_arrived(own, false); !work.is_empty()) {
      own.cpu.note_command(was_away, time);  // parts of a large copy are no work: their sender is busy on its own CPU
      return work;
    }
    if (is_crew && is_to_give_back(own)) return {};
    if (has_come) {
      begin = time;
      was_away = false;  // the next command comes while this thread looks
    }
    uint64_t before = time;
#pragma omp taskyield
    time = now();
    // A kernel may have run here. On a cluster, it adds the successors that can run now; for these, this thread need
    // not yield its CPU.
    WorkList work;
    if (time - before > kAlone) work = take_arrived(own, false);
    if (!work.is_empty()) return work;
    own.looked.store(time, std::memory_order_relaxed);
    if (time - begin <= kAlone) continue;
    sched_yield();
    uint64_t back = now();
    was_away = back - time > kAway;
    time = back;
  } while (time - begin < kPatience);
  return {};
}

// Waits for commands on this thread if no kernel runs; false: it has not waited. `work` may be set then: a kernel adds
// its successors before it leaves `kernels`, so they are found here. Both are seq_cst, as in run_kernel.
bool wait_alone(Dispatcher& own, WorkList& work) {
  if (own.source.wait == nullptr || own.kernels.load() != 0) return false;
  work = take_arrived(own, false);
  return work.is_empty() && own.source.wait();
}

void resume(const Dispatcher& own) {
  if (own.source.resume != nullptr) own.source.resume();
}

void wait_for(marline_event_t& event) {
  static constexpr const char* kNames[] = {nullptr};
  static constexpr marline_wait_t kWhy = {"commands", kNames, {}, nullptr, 0, 0};  // python/marline/ps/workers.py
  marline_event_wait_for(&event, &kWhy);
}

// The crew leaves the work to the first thread, and returns from here when it is called.
void give_back(Dispatcher& own) {
  {
    Guard guard(own.lock);
    if (!own.work.is_empty()) return;  // more has come
    own.crew_leads = false;
    marline_event_init(&own.crew_is_called);
  }
  marline_event_fulfill(&own.crew_has_gone);
  wait_for(own.crew_is_called);
}

// Whether the crew must not start another kernel: it may use one thread less while the first thread runs a kernel.
bool must_hold(const Dispatcher& own) { return own.is_alone.load() && own.kernels.load() >= own.threads; }

bool can_start_held(const Dispatcher& own) { return own.has_held.load() && !must_hold(own); }

// Waits until there is work. Empty: the kernels that the crew holds can start.
WorkList take_work(Dispatcher& own, bool is_crew) {
  for (;;) {
    if (is_crew && can_start_held(own)) return {};
    WorkList work = look_for_work(own, is_crew);
    if (work.is_empty() && is_crew && is_to_give_back(own)) {
      give_back(own);
      continue;
    }
    if (work.is_empty() && wait_alone(own, work)) continue;
    resume(own);
    if (work.is_empty()) work = take_arrived(own, true);
    if (!work.is_empty()) return work;
    if (is_crew && can_start_held(own)) {  // after `sleeps` is set: a kernel that ends later wakes the crew
      Guard guard(own.lock);
      own.sleeps = false;
      return {};
    }
    own.source.announce();
    (void)own.source.receive();
    wait_for(own.arrival);
  }
}

void wake(Dispatcher& sleeper) {
  bool wakes;
  {
    Guard guard(sleeper.lock);
    wakes = sleeper.sleeps;
    sleeper.sleeps = false;
  }
  if (wakes) marline_event_fulfill(&sleeper.arrival);  // after the release: the woken thread takes the lock
}

// When the last kernel has run, the dispatcher is woken: it may then wait for commands itself.
void run_kernel(Dispatcher* own, Work* work) {
  work->run(work);
  bool is_last = own->kernels.fetch_sub(1) == 1;
  if ((is_last && own->source.wait != nullptr) || own->has_held.load()) wake(*own);
}

// Makes a task of the kernel, or holds it if there would be one kernel too many.
void start_kernel(Dispatcher& own, Work* work) {
  if (must_hold(own)) {
    own.held.push(work);
    return own.has_held.store(true);
  }
  own.kernels.fetch_add(1);
  Dispatcher* self = &own;
#pragma omp task firstprivate(self, work) untied
  run_kernel(self, work);
}

// Starts the kernels that are held. Kernels that are still too many are held again.
void start_held(Dispatcher& own) {
  WorkList held = own.held.take_all();
  own.has_held.store(false);
  for (Work* work : held) start_kernel(own, work);
}

// The crew's dispatching task. The other threads of the parallel region wait for tasks. The task is untied: when its
// thread runs a kernel, an idle thread continues the dispatching task.
void dispatch(Dispatcher& own) {
  for (;;) {
    WorkList list = take_work(own, true);
    if (own.has_held.load()) start_held(own);
    for (Work* work : list) {
      if (work->is_kernel) {
        bool is_single = own.kernels.load() == 0 && work == list.last();
        own.singles = is_single ? own.singles + 1 : 0;
        start_kernel(own, work);
      } else {
        work->run(work);  // at once: it does not wait for a free thread
      }
    }
  }
}

// The part's share of the threads that the process may have: as large as its share of the CPUs, and at least 1.
int threads_of(const CpuPart* part) {
  int all = omp_get_max_threads();
  return part != nullptr ? std::max(1, all * part->count / part->of) : all;
}

void keep_to(const CpuPart& part, int threads) {
  int error = marline_thread_share(part.cpus, kCpuWords, threads);
  if (error != 0) fatal("the threads of a device cannot be bound to its %d CPUs: %s", part.count, strerror(error));
}

void* serve_crew(void* data) {
  Dispatcher* own = static_cast<Dispatcher*>(data);
  int threads = own->threads;
  if (own->part != nullptr) keep_to(*own->part, threads);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task untied firstprivate(own)
    dispatch(*own);
  }
  return nullptr;
}

// Gives the thread a stack that is as large as that of a program's first thread may become.
void start_thread(void* (*body)(void*), Dispatcher& own) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
    pthread_attr_setstacksize(&attributes, kUnlimitedStack);
  }
  pthread_t thread;
  int error = pthread_create(&thread, &attributes, body, &own);
  pthread_attr_destroy(&attributes);
  char why[256];
  if (error != 0) {
    fatal("no thread can be created for a device's kernels: %s", marline_describe_refusal(error, 0, why, sizeof why));
  }
}

// The caller holds the lock. When it has released the lock, it calls call_crew with the result: whether the crew has to
// be started.
bool let_crew_lead(Dispatcher& own) {
  own.crew_leads = true;
  own.singles_wanted = own.run_alone < kFew ? std::min(2 * own.singles_wanted, kMostSingles) : kSingles;
  own.run_alone = 0;
  marline_event_init(&own.crew_has_gone);
  bool is_first = !own.has_crew;
  own.has_crew = true;
  return is_first;
}

void call_crew(Dispatcher& own, bool is_first) {
  is_first ? start_thread(serve_crew, own) : marline_event_fulfill(&own.crew_is_called);
}

// Called by the first thread, which leads. Puts the kernels in front of the work that waits, as they came before it.
void leave_to_crew(Dispatcher& own, WorkList kernels) {
  bool is_first;
  {
    Guard guard(own.lock);
    kernels.append(own.work);
    own.work = kernels;
    is_first = let_crew_lead(own);
  }
  call_crew(own, is_first);
  wait_for(own.crew_has_gone);
}

// Called by the first thread, which leads. Runs the kernel; false: more work waits already. A thread that adds work
// while the kernel runs calls the crew (add_work).
bool run_alone(Dispatcher& own, Work* kernel) {
  {
    Guard guard(own.lock);
    if (!own.work.is_empty()) return false;
    own.kernels.fetch_add(1);  // under the lock: the crew gives back only if it sees no kernel (give_back)
    own.is_alone = true;
    ++own.run_alone;
  }
  if (own.source.begin_alone != nullptr) own.source.begin_alone();
  t_alone = &own;
  kernel->run(kernel);
  kernel_has_run();
  bool crew_leads, wakes;
  {
    Guard guard(own.lock);
    own.kernels.fetch_sub(1);  // under the lock, too: if the crew gives back after this, this thread waits for it below
    crew_leads = own.crew_leads;
    wakes = crew_leads && own.sleeps;  // the crew may sleep until the last kernel ends
    if (wakes) own.sleeps = false;
  }
  if (wakes) marline_event_fulfill(&own.arrival);
  if (crew_leads) wait_for(own.crew_has_gone);
  return true;
}

// The loop of the first thread if it may run kernels.
[[noreturn]] void lead(Dispatcher& own) {
  for (;;) {
    WorkList kernels;
    for (Work* work : take_work(own, false)) work->is_kernel ? kernels.push(work) : work->run(work);
    bool is_one = kernels.first() == kernels.last();
    if (!kernels.is_empty() && !(is_one && run_alone(own, kernels.first()))) leave_to_crew(own, kernels);
  }
}

void* serve(void* data) {
  Dispatcher* own = static_cast<Dispatcher*>(data);
  int threads = own->threads = threads_of(own->part);
  // With one thread, the crew would hold all kernels while the first thread's kernel is suspended.
  if (threads == 1) own->source.may_run_alone = false;
  if (own->part != nullptr) keep_to(*own->part, threads);
#pragma omp parallel num_threads(threads)
#pragma omp single
  if (own->source.begin != nullptr) own->source.begin();
  if (own->source.may_run_alone) lead(*own);
  {
    Guard guard(own->lock);
    own->crew_leads = own->has_crew = true;
  }
  return serve_crew(data);
}

}  // namespace

void start_dispatcher(const WorkSource& source, const CpuPart* part) {
  int number = g_count.load(std::memory_order_relaxed);
  Dispatcher& own = g_dispatchers[number];
  own.source = source;
  own.part = part;
  g_count.store(number + 1, std::memory_order_release);  // pairs with for_all_dispatchers
  start_thread(serve, own);
}

void add_work(WorkList list, int dispatcher) {
  if (list.is_empty()) return;
  Dispatcher& receiver = g_dispatchers[dispatcher];
  bool calls_crew, is_first = false;
  {
    Guard guard(receiver.lock);
    receiver.work.append(list);
    // If the first thread itself adds work inside its kernel, it takes this work after the kernel.
    calls_crew = receiver.is_alone && !receiver.crew_leads && t_alone != &receiver;
    if (calls_crew) is_first = let_crew_lead(receiver);
  }
  calls_crew ? call_crew(receiver, is_first) : wake(receiver);
}

void kernel_has_run() {
  Dispatcher* own = t_alone;
  if (own == nullptr) return;
  t_alone = nullptr;
  if (own->source.end_alone != nullptr) own->source.end_alone();
  Guard guard(own->lock);
  own->is_alone = false;
}

void share_out(uint64_t count, void (*body)(void* data, uint64_t first, uint64_t end), void* data) {
  if (t_alone == nullptr || count < 2) return body(data, 0, count);
#pragma omp parallel num_threads(t_alone->threads)
  {
    auto number = static_cast<uint64_t>(omp_get_thread_num()), all = static_cast<uint64_t>(omp_get_num_threads());
    body(data, count * number / all, count * (number + 1) / all);
  }
}

WorkList take_other_work() {
  WorkList others;
  for_all_dispatchers([&others](Dispatcher& dispatcher) {
    Guard guard(dispatcher.lock);
    for (Work* work : dispatcher.work.take_all()) work->is_kernel ? dispatcher.work.push(work) : others.push(work);
  });
  return others;
}

void run_all(WorkList list) {
  for (Work* work : list) work->run(work);
}

bool dispatcher_sleeps() {
  bool all = true;
  for_all_dispatchers([&all](Dispatcher& dispatcher) {
    Guard guard(dispatcher.lock);
    all = all && (dispatcher.sleeps || (dispatcher.is_alone && !dispatcher.crew_leads));
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

}  // namespace marline::offload::device
