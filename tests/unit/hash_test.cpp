// SPDX-License-Identifier: Apache-2.0
//
// base/hash.hpp: a bijection (known values) that spreads keys of any stride over a table with a power of two of
// buckets. Also the clock and the version, too small for programs of their own.
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/clock.hpp"
#include "base/version.hpp"

namespace marline {
namespace {

TEST(Mix64, KnownValues) {
  EXPECT_EQ(mix64(0), 0u);
  // splitmix64 with seed 1234567 is published with these outputs; its state grows by the golden ratio.
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;
  EXPECT_EQ(mix64(1234567 + kGolden), 6457827717110365317u);
  EXPECT_EQ(mix64(1234567 + 2 * kGolden), 3203168211198807973u);
}

// 4096 keys in 4096 buckets: at random the fullest holds 6 to 9. A bad stride would put hundreds into one.
TEST(Mix64, NoStrideIsBad) {
  constexpr int kKeys = 4096;
  for (int shift = 0; shift < 52; ++shift) {
    for (const uint64_t odd : {1u, 3u, 7u, 1000003u}) {
      std::vector<int> load(kKeys, 0);
      int fullest = 0;
      for (uint64_t key = 0; key < kKeys; ++key) {
        fullest = std::max(fullest, ++load[mix64(0x7f0000000000u + (key * odd << shift)) % kKeys]);
      }
      EXPECT_LE(fullest, 14) << "stride " << odd << " << " << shift;
    }
  }
}

TEST(Clock, CyclesAndSecondsAgree) {
  const double frequency = cycles_per_second();
  const double begin_seconds = wtime();
  const uint64_t begin = cycles();
  while (wtime() - begin_seconds < 0.02) {
  }
  const double by_cycles = static_cast<double>(cycles() - begin) / frequency;
  const double by_clock = wtime() - begin_seconds;
  EXPECT_NEAR(by_cycles, by_clock, 0.1 * by_clock);
}

TEST(Version, IsTheProjects) { EXPECT_STREQ(kVersion, MARLINE_PROJECT_VERSION); }

}  // namespace
}  // namespace marline
