// SPDX-License-Identifier: Apache-2.0
//
// When a kernel runs with one thread: after many short runs, while that takes less time; not when it is long.
#include "construct/device/short_kernels.hpp"

#include <gtest/gtest.h>

namespace marline {
namespace {

constexpr uint64_t kMicrosecond = 1000, kShort = 5 * kMicrosecond, kLong = 500 * kMicrosecond;

// Runs a kernel, and says how many of the runs had one thread.
struct Kernel {
  uint64_t address;
  KernelTimes& times = times_of_kernel(address);

  int run(int count, uint64_t with_threads, uint64_t alone) {
    int runs_alone = 0;
    for (int i = 0; i < count; ++i) {
      const bool is_alone = times.begin(address);
      times.end(is_alone, is_alone ? alone : with_threads);
      runs_alone += is_alone ? 1 : 0;
    }
    return runs_alone;
  }
};

TEST(ShortKernels, KeepTheirThreadsAtFirst) {
  Kernel kernel{0x1000};
  EXPECT_EQ(kernel.run(16, kShort, kMicrosecond), 0);
  EXPECT_EQ(kernel.run(16, kShort, kMicrosecond), 16);
}

TEST(ShortKernels, AreAskedAnewNowAndThen) {
  Kernel kernel{0x2000};
  const int runs = 100'000, alone = kernel.run(runs, kShort, kMicrosecond);
  EXPECT_GT(alone, runs * 0.99);
  EXPECT_LT(alone, runs - 16);
}

TEST(ShortKernels, KeepThreadsThatMakeThemFaster) {
  Kernel kernel{0x3000};
  const int trials = kernel.run(1000, kShort, 2 * kShort);
  EXPECT_GT(trials, 0);
  EXPECT_LE(trials, 4 * 8);
  EXPECT_LT(kernel.run(100'000, kShort, 2 * kShort), 100'000 * 0.005);
}

TEST(ShortKernels, LongOnesKeepTheirThreads) {
  Kernel kernel{0x4000};
  EXPECT_EQ(kernel.run(1000, kLong, 1), 0);
}

TEST(ShortKernels, OneLongRunEndsIt) {
  Kernel kernel{0x5000};
  EXPECT_EQ(kernel.run(32, kShort, kMicrosecond), 16);
  EXPECT_EQ(kernel.run(1, kShort, kLong), 1);
  EXPECT_EQ(kernel.run(16, kShort, kMicrosecond), 0);
  EXPECT_EQ(kernel.run(1, kShort, kMicrosecond), 1);
}

// As a multigrid cycle has them: many short runs, but never as many in a row.
TEST(ShortKernels, OfManySizesKeepTheirThreads) {
  Kernel kernel{0x6000};
  for (int cycle = 0; cycle < 100; ++cycle) {
    EXPECT_EQ(kernel.run(8, kShort, kMicrosecond), 0);
    EXPECT_EQ(kernel.run(1, kLong, kLong), 0);
  }
}

TEST(ShortKernels, AtOnePlaceOfTheTableKeepTheirThreads) {
  uint64_t second = 0x7001;
  while (&times_of_kernel(second) != &times_of_kernel(0x7000)) ++second;
  Kernel a{0x7000}, b{second};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(a.run(1, kShort, kMicrosecond), 0);
    EXPECT_EQ(b.run(1, kShort, kMicrosecond), 0);
  }
  EXPECT_EQ(a.run(32, kShort, kMicrosecond), 16);
}

}  // namespace
}  // namespace marline
