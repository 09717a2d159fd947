// SPDX-License-Identifier: Apache-2.0
//
// What a library that has claimed target tasks is notified of in a persistent graph, when tasks and threads of the host
// wait for the target tasks. Each iteration, also a repeated one, names the regions that the host waits for, and no
// other.
//
// Covers: marline target tasks
#include "../../check.h"

#include <marline/devices.h>
#include <marline/marline.h>

#include <atomic>
#include <vector>

namespace {

struct Claim {
  marline_claimed_t* handle;
  uint64_t number;
  std::atomic<bool> ready{false};
  std::atomic<bool> is_awaited{false};
};

std::vector<Claim*> g_claims;  // in order; by the one creator, as are all calls of `awaited` here

void* created(const marline_target_task_t* task) {
  g_claims.push_back(new Claim{task->handle, task->number});
  return g_claims.back();
}

void ready(void* claimed) { static_cast<Claim*>(claimed)->ready = true; }

void awaited(uint64_t number) {
  for (Claim* claim : g_claims) {
    if (claim->number == number) claim->is_awaited = true;
  }
}

void end_when(const std::atomic<bool>& may_end, const Claim* claim) {
  while (!may_end || !claim->ready) {
#pragma omp taskyield
  }
  marline_claimed_end(claim->handle);
}

constexpr int kRegions = 5;

// Five regions. A host task is ordered after the first one; another host task is ordered after the second and the third
// one, which are a set (inoutset). The thread waits for the fourth region. The last one has no successor.
void iterate(int* cells, int* host) {
  size_t before = g_claims.size();
#pragma omp target nowait map(tofrom : cells[0 : 1]) depend(out : cells[0])
  cells[0] += 1;
#pragma omp target nowait map(tofrom : cells[1 : 1]) depend(inoutset : cells[1])
  cells[1] += 1;
#pragma omp target nowait map(tofrom : cells[2 : 1]) depend(inoutset : cells[1])
  cells[2] += 1;
#pragma omp target nowait map(tofrom : cells[3 : 1]) depend(out : cells[3])
  cells[3] += 1;
#pragma omp target nowait map(tofrom : cells[4 : 1]) depend(out : cells[4])
  cells[4] += 1;
#pragma omp task depend(in : cells[0])
  host[0] += 1;
#pragma omp task depend(in : cells[1])
  host[1] += 1;
  CHECK(g_claims.size() == before + kRegions);
  Claim** claims = &g_claims[before];
  CHECK(claims[0]->is_awaited && claims[1]->is_awaited && claims[2]->is_awaited);
  CHECK(!claims[3]->is_awaited && !claims[4]->is_awaited);
  Claim* waited_for = claims[3];
#pragma omp task firstprivate(waited_for)
  end_when(waited_for->is_awaited, waited_for);
#pragma omp taskwait depend(in : cells[3])
  CHECK(!claims[4]->is_awaited);
  for (int i : {0, 1, 2, 4}) end_when(claims[i]->ready, claims[i]);
}

}  // namespace

int main() {
  static const marline_target_observer_t observer = {
      .bytes = sizeof observer, .created = created, .ready = ready, .awaited = awaited};
  CHECK(marline_target_tasks_observe(&observer) == 0);
  constexpr int kIterations = 6;
  static int cells[kRegions], host[2];
#pragma omp parallel
#pragma omp single
  {
    marline_graph_t* graph = marline_graph_begin(MARLINE_GRAPH_BARRIER);
    for (int i = 0; i < kIterations; ++i) {
      if (marline_graph_iterate(graph) != 0) iterate(cells, host);
    }
    marline_graph_end(graph);
  }
  CHECK(g_claims.size() == kIterations * kRegions);
  CHECK(host[0] == kIterations && host[1] == kIterations);
  return 0;
}
