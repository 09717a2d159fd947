// SPDX-License-Identifier: Apache-2.0
//
// The end of target tasks that a library has claimed (devices.h). While a task's private object is being destroyed, by
// code that suspends, the task is named with its number to a successor. A task that is ended before its predecessor
// ends the program.
//
// Covers: marline target tasks
#include "../../child.h"

#include <marline/devices.h>
#include <marline/marline.h>

#include <atomic>

namespace {

struct Claim {
  marline_claimed_t* handle;
  uint64_t number;
  size_t claimed, others;  // what stands before it
  uint64_t first;          // of the claimed ones
  std::atomic<bool> ready;
};

Claim g_claims[4];
int g_count = 0;  // by the one creator

void* created(const marline_target_task_t* task) {
  Claim& claim = g_claims[g_count++];
  claim.handle = task->handle;
  claim.number = task->number;
  return &claim;
}

void ordered(void* claimed, const uint64_t* numbers, size_t count, size_t others) {
  auto* claim = static_cast<Claim*>(claimed);
  claim->claimed = count;
  claim->others = others;
  if (count != 0) claim->first = numbers[0];
}

void ready(void* claimed) { static_cast<Claim*>(claimed)->ready = true; }

marline_event_t g_may_go;
std::atomic<bool> g_is_suspended{false};

// The copy in a task suspends the thread that destroys it.
struct Slow {
  bool is_copy = false;
  Slow() = default;
  Slow(const Slow&) : is_copy(true) {}
  ~Slow() {
    if (!is_copy || g_is_suspended.exchange(true)) return;
    marline_event_wait(&g_may_go);
  }
};

void end_when_ready(Claim& claim) {
  while (!claim.ready) {
#pragma omp taskyield
  }
  marline_claimed_end(claim.handle);
}

void behind_a_suspended_end() {
  Slow object;
  int cell = 0;
  int* at = &cell;
#pragma omp target nowait firstprivate(object) map(tofrom : at[0 : 1]) depend(inout : at[0])
  at[0] += object.is_copy ? 1 : 2;
  end_when_ready(g_claims[0]);
  while (!g_is_suspended) {
#pragma omp taskyield
  }
#pragma omp target nowait map(tofrom : at[0 : 1]) depend(inout : at[0])
  at[0] += 4;
  CHECK(g_count == 2 && g_claims[1].claimed == 1 && g_claims[1].others == 0);
  CHECK(g_claims[1].first == g_claims[0].number);
  CHECK(!g_claims[1].ready);
  marline_event_fulfill(&g_may_go);
  end_when_ready(g_claims[1]);
#pragma omp taskwait
  CHECK(cell == 0);
}

void end_too_early() {
  int cell = 0;
  int* at = &cell;
#pragma omp task depend(inout : at[0]) firstprivate(at)
  marline_event_wait(&g_may_go);
#pragma omp target nowait map(tofrom : at[0 : 1]) depend(inout : at[0])
  at[0] += 1;
  marline_claimed_end(g_claims[0].handle);
}

}  // namespace

int main(int argc, char**) {
  static const marline_target_observer_t observer = {sizeof observer, created, ordered, nullptr,
                                                     ready,           nullptr, nullptr, nullptr};
  CHECK(marline_target_tasks_observe(&observer) == 0);
  marline_event_init(&g_may_go);
#pragma omp parallel
#pragma omp single
  argc > 1 ? end_too_early() : behind_a_suspended_end();
  if (argc == 1) expect_fatal("early", "a target task was ended before its predecessors had completed");
  return 0;
}
