// SPDX-License-Identifier: Apache-2.0
//
// Private objects of target tasks that a library has claimed (devices.h) without running their bodies. Each copy is
// destroyed once, by a thread of the team, before a taskwait after the tasks ends.
//
// Covers: marline target tasks
#include "../../check.h"

#include <marline/devices.h>
#include <omp.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::atomic<int> g_alive{0};
std::atomic<bool> g_by_others{false};  // an object was destroyed by a thread that is not of the team
thread_local bool t_of_team = false;

struct Counted {
  int value;
  explicit Counted(int its_value) : value(its_value) { ++g_alive; }
  Counted(const Counted& other) : value(other.value) { ++g_alive; }
  ~Counted() {
    --g_alive;
    if (!t_of_team) g_by_others = true;
  }
};

std::mutex g_lock;
std::vector<marline_claimed_t*> g_ready;
std::atomic<bool> g_stop{false};

void* created(const marline_target_task_t* task) { return task->handle; }

void ready(void* claimed) {
  std::lock_guard<std::mutex> guard(g_lock);
  g_ready.push_back(static_cast<marline_claimed_t*>(claimed));
}

void end_all() {
  while (!g_stop) {
    std::vector<marline_claimed_t*> now;
    {
      std::lock_guard<std::mutex> guard(g_lock);
      now.swap(g_ready);
    }
    for (marline_claimed_t* task : now) marline_claimed_end(task);
    std::this_thread::yield();
  }
}

void spawn(const Counted& object, int* cell, int* ran) {
#pragma omp target nowait firstprivate(object) map(tofrom : ran[0 : 1]) depend(inout : cell[0])
  ran[0] += object.value;
}

}  // namespace

int main() {
  static const marline_target_observer_t observer = {sizeof observer, created, nullptr, nullptr,
                                                     ready,           nullptr, nullptr, nullptr};
  CHECK(marline_target_tasks_observe(&observer) == 0);
  std::thread ender(end_all);
  int cells[8] = {}, ran = 0;
#pragma omp parallel
  {
    t_of_team = true;
#pragma omp single
    {
      Counted object(1);
      for (int i = 0; i < 400; ++i) spawn(object, &cells[i % 8], &ran);
#pragma omp taskwait
      CHECK(g_alive == 1);
    }
  }
  g_stop = true;
  ender.join();
  CHECK(ran == 0 && g_alive == 0 && !g_by_others);
  return 0;
}
