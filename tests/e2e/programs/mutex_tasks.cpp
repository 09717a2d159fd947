// SPDX-License-Identifier: Apache-2.0
//
// Tasks that leave their threads while they hold a lock, or just do not: `mutex_tasks CASE [STATUS]`. Each case but
// "hang" ends well, as no other task wants the lock meanwhile. `marline check` must find the mistake. Lines that the
// test looks for carry a comment "here: NAME".
#include <marline/marline.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <string>

static std::mutex m;
static std::recursive_mutex recursive;
static pthread_mutex_t raw = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;

// Suspends the calling task until another has run. That one, which another thread may start at once, stays until the
// event says that the caller has left its thread.
[[gnu::noinline]] static void suspend() {
  marline_event_t event = MARLINE_EVENT_INIT;
#pragma omp task shared(event)
  {
    while (__atomic_load_n(&event.state, __ATOMIC_ACQUIRE) == 0)  // pairs with the wait's publication
      sched_yield();
    marline_event_fulfill(&event);
  }
  marline_event_wait(&event);
}

// Runs `body` as a task named after the case, in a region.
static void in_task(const char* name, void (*body)()) {
#pragma omp parallel
#pragma omp single
  {
    marline_task_label(name);
#pragma omp task untied firstprivate(body)
    body();
  }
}

static void guard() {
  std::lock_guard<std::mutex> holds(m);  // here: lock guard
  suspend();                             // here: suspend
}

static void many() {
  for (int i = 0; i < 5; ++i) guard();
}

static void reader() {
  pthread_rwlock_rdlock(&shared);
  suspend();
  pthread_rwlock_unlock(&shared);
}

static void yield() {
  static int sum;
  pthread_mutex_lock(&raw);
  for (int i = 0; i < 10; ++i) {
#pragma omp task
#pragma omp atomic
    ++sum;
#pragma omp taskyield
  }
  pthread_mutex_unlock(&raw);
}

static void undeferred() {
  pthread_mutex_lock(&raw);
#pragma omp task if (0)
  suspend();
  pthread_mutex_unlock(&raw);
}

static void recursion() {
  recursive.lock();
  recursive.lock();
  recursive.unlock();
  suspend();
  recursive.unlock();
}

// The child is on its parent's stack when it is suspended, on one thread.
static void taskwait() {
  pthread_mutex_lock(&raw);
#pragma omp task untied
  suspend();
#pragma omp taskwait
  pthread_mutex_unlock(&raw);
}

// Suspended in a lock of OpenMP, which a task holds that waits for a third one.
static void openmp_lock() {
  static omp_lock_t lock;
  static marline_event_t event = MARLINE_EVENT_INIT;
  static std::atomic<bool> locked, wanted;
  omp_init_lock(&lock);
#pragma omp task
  {
    omp_set_lock(&lock);
    locked = true;
    marline_event_wait(&event);
    omp_unset_lock(&lock);
  }
#pragma omp task
  {
    while (!locked) {
#pragma omp taskyield
    }
    pthread_mutex_lock(&raw);
    wanted = true;
    omp_set_lock(&lock);  // here: OpenMP lock
    omp_unset_lock(&lock);
    pthread_mutex_unlock(&raw);
  }
#pragma omp task
  {
    while (!wanted) {
#pragma omp taskyield
    }
    marline_event_fulfill(&event);
  }
#pragma omp taskwait
}

// Nothing of the following is wrong.
static void released() {
  for (int i = 0; i < 100; ++i) {
    [] { pthread_mutex_lock(&raw); }();
    [] { pthread_mutex_unlock(&raw); }();
    std::lock_guard<std::mutex>{m};
    recursive.lock();
    recursive.lock();
    recursive.unlock();
    recursive.unlock();
    if (pthread_mutex_trylock(&raw) == 0) pthread_mutex_unlock(&raw);
    suspend();
  }
}

// A lock that one task takes and another releases is not held by the first any more.
static void handed_over() {
  pthread_mutex_lock(&raw);
#pragma omp task if (0)
  pthread_mutex_unlock(&raw);
  suspend();
}

static void condition() {
  std::condition_variable ready;
  bool done = false;
  pthread_t other;
  auto signal = [&] {
    std::lock_guard<std::mutex> holds(m);
    done = true;
    ready.notify_one();
  };
  std::function<void()> call = signal;
  {
    std::unique_lock<std::mutex> holds(m);
    pthread_create(
        &other, nullptr,
        [](void* f) -> void* {
          (*static_cast<std::function<void()>*>(f))();
          return nullptr;
        },
        &call);
    ready.wait(holds, [&] { return done; });
  }
  pthread_join(other, nullptr);
  suspend();
}

// Held by the program around the region, not by its tasks.
static void around() {
  pthread_mutex_lock(&raw);
  in_task("inside", suspend);
  pthread_mutex_unlock(&raw);
}

// Tasks of many threads, each with a mutex of its own while it works, none while it waits.
static void crowd() {
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 200; ++i) {
#pragma omp task untied
    {
      std::mutex own;
      own.lock();
      own.unlock();
      suspend();
      own.lock();
      own.unlock();
    }
  }
}

// One waits for the other's lock, the other for the thread.
static void hang() {
#pragma omp parallel num_threads(1)
  for (int i = 0; i < 2; ++i) {
#pragma omp task
    {
      std::puts("locking");
      std::fflush(stdout);
      m.lock();
#pragma omp taskyield
      m.unlock();
    }
  }
}

// What an untied task holds goes with it to another thread, and comes to its end there.
static void moves() {
#pragma omp parallel num_threads(4)
  for (int i = 0; i < 100; ++i) {
#pragma omp task untied
    {
      std::mutex own;
      own.lock();
      suspend();  // here: with it
      own.unlock();
      suspend();
    }
  }
}

static void implicit() {
#pragma omp parallel num_threads(2)
  {
    std::mutex own;
    own.lock();
    suspend();
    own.unlock();
  }
}

int main(int, char** argv) {
  const std::map<std::string, void (*)()> in_a_task = {{"guard", guard},           {"many", many},
                                                       {"reader", reader},         {"yield", yield},
                                                       {"undeferred", undeferred}, {"recursion", recursion},
                                                       {"taskwait", taskwait},     {"openmp_lock", openmp_lock},
                                                       {"released", released},     {"handed_over", handed_over},
                                                       {"condition", condition}};
  const std::map<std::string, void (*)()> alone = {
      {"around", around}, {"crowd", crowd}, {"hang", hang}, {"moves", moves}, {"implicit", implicit}};
  const std::string name = argv[1];
  if (auto body = in_a_task.find(name); body != in_a_task.end()) {
    in_task(argv[1], body->second);
  } else {
    alone.at(name)();
  }
  std::puts("done");
  return argv[2] != nullptr ? std::atoi(argv[2]) : 0;
}
