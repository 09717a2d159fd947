// SPDX-License-Identifier: Apache-2.0
//
// Private copies of objects in tasks that are created after the cancellation: with Clang each is destroyed once, with
// GCC there are none, as marline.h says. Other tasks destroy theirs as ever.
//
// Covers: marline later cancellation, task(firstprivate)
#include "../check.h"
#include <marline/marline.h>

#include <atomic>

namespace {

std::atomic<int> alive{0}, ran{0};

struct Counted {
  int value = 1;
  Counted() { ++alive; }
  Counted(const Counted& other) : value(other.value) { ++alive; }
  ~Counted() { --alive; }
};

constexpr int kTasks = 100, kBefore = 30;

void speculate() {
  Counted object;
#pragma omp taskgroup
  for (int i = 0; i < kTasks; i++) {
    if (i == kBefore) marline_taskgroup_cancel_later();
#pragma omp task firstprivate(object)
    ran += object.value;
  }
  CHECK_EQ(ran, kBefore);
  CHECK_EQ(alive, 1);
}

}  // namespace

int main() {
#pragma omp parallel
#pragma omp single
  speculate();
  return 0;
}
