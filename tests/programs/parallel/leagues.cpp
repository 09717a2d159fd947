// SPDX-License-Identifier: Apache-2.0
//
// Leagues with objects: each team has its copies, made and destroyed once each, and adds to the original under its
// reduction's own operator.
//
// Covers: teams(private, firstprivate, reduction), distribute(lastprivate, firstprivate), teams distribute parallel for
#include "../check.h"
#include <omp.h>

#include <atomic>

static std::atomic<int> g_living{0}, g_copies{0};

class Tally {
 public:
  Tally() { ++g_living; }
  explicit Tally(long value) : value_(value) { ++g_living; }
  Tally(const Tally& other) : value_(other.value_) { ++g_living, ++g_copies; }
  Tally& operator=(const Tally&) = default;
  ~Tally() { --g_living; }
  void add(long value) { value_ += value; }
  long value() const { return value_; }

 private:
  long value_ = 0;
};

#pragma omp declare reduction(tally:Tally : omp_out.add(omp_in.value())) initializer(omp_priv = Tally())

static void copies_of_teams() {
  Tally start(7), sum, scratch(-1);
  int before = g_living;
  g_copies = 0;
#pragma omp teams num_teams(4) firstprivate(start) private(scratch) reduction(tally : sum)
  {
    CHECK_EQ(start.value(), 7);
    CHECK_EQ(scratch.value(), 0);
    start.add(omp_get_team_num());
    scratch.add(1);
    sum.add(start.value());
  }
  CHECK_EQ(sum.value(), 4 * 7 + 6);
  CHECK_EQ(start.value(), 7);
  CHECK_EQ(scratch.value(), -1);
  CHECK_EQ(g_living, before);
  CHECK(g_copies >= 4);
}

static void distributed() {
  Tally last(0), base(100), sum;
  int before = g_living;
#pragma omp teams distribute parallel for num_teams(3) lastprivate(last) firstprivate(base) reduction(tally : sum)
  for (int i = 0; i < 50; i++) {
    last = Tally(i);
    sum.add(base.value() + i);
  }
  CHECK_EQ(last.value(), 49);
  CHECK_EQ(sum.value(), 50 * 100 + 1225);
  CHECK_EQ(g_living, before);
}

int main() {
  for (int i = 0; i < 20; i++) {
    copies_of_teams();
    distributed();
  }
  return 0;
}
