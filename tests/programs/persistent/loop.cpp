// SPDX-License-Identifier: Apache-2.0
//
// The range form of persistent graphs: the iterations that the body sees, break and exceptions, objects as data.
//
// Covers: marline persistent graphs
#include "../check.h"

#include <initializer_list>
#include <marline/graph.hpp>

namespace {

// What a firstprivate copy of it holds is its own.
struct Counted {
  static inline int alive = 0;
  int value;
  explicit Counted(int v) : value(v) { change(1); }
  Counted(const Counted& other) : value(other.value) { change(1); }
  ~Counted() { change(-1); }
  static void change(int by) { __atomic_fetch_add(&alive, by, __ATOMIC_RELAXED); }
};

void check_objects(int mode) {
  long sum = 0;
  int bodies = 0;
  for (int i : marline::graph_loop(6, mode)) {
    ++bodies;
    Counted data(i);
#pragma omp task firstprivate(data) depend(inout : sum) shared(sum)
    sum = 10 * sum + data.value;
  }
  CHECK_EQ(bodies, 6);  // objects: no replay without the body
  CHECK_EQ(sum, 12345);
  CHECK_EQ(Counted::alive, 0);
}

void check_leaving(int mode) {
  int sum = 0;
  for (int i : marline::graph_loop(10, mode)) {
    if (i == 4) break;
#pragma omp task depend(inout : sum) shared(sum)
    ++sum;
  }
  CHECK_EQ(sum, 4);
  try {
    for (int i : marline::graph_loop(10, mode)) {
      if (i == 3) throw i;
#pragma omp task depend(inout : sum) shared(sum)
      ++sum;
    }
  } catch (int) {
    CHECK_EQ(sum, 7);
  }
}

void check_replay() {
  int bodies = 0, sum = 0;
  for (int i : marline::graph_loop(5, MARLINE_GRAPH_REPLAY)) {
    ++bodies;
#pragma omp task depend(inout : sum) shared(sum) firstprivate(i)
    sum += i + 1;
  }
  CHECK_EQ(bodies, 1);
  CHECK_EQ(sum, 5);
}

void check_macro() {
  int sum = 0, seen = 0;
  MARLINE_GRAPH_FOR(int i = 0, i < 10, ++i, MARLINE_GRAPH_BARRIER) {
    if (i == 2) continue;
    if (i == 6) break;
    ++seen;
#pragma omp task depend(inout : sum) shared(sum) firstprivate(i)
    sum += i;
  }
  CHECK_EQ(seen, 5);
  CHECK_EQ(sum, 0 + 1 + 3 + 4 + 5);
}

}  // namespace

int main() {
#pragma omp parallel
#pragma omp single
  {
    for (int mode : {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT, MARLINE_GRAPH_REPLAY}) check_objects(mode);
    for (int mode : {MARLINE_GRAPH_BARRIER, MARLINE_GRAPH_NOWAIT}) check_leaving(mode);
    check_replay();
    check_macro();
  }
  return 0;
}
