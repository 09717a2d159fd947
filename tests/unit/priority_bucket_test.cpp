// SPDX-License-Identifier: Apache-2.0
//
// The bucket of a priority: monotone, exact at both ends, within its bound in between, and within the array.
#include "task/priority_bucket.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace marline {
namespace {

int bucket(int64_t priority) { return priority_bucket_of(static_cast<int32_t>(priority), false); }

// Every priority near the ends and the middle, and around every power of two; a sample of the rest.
template <class Visit>
void for_priorities(Visit visit) {
  for (int64_t p = 0; p <= INT_MAX; p += p < 5000 || p > INT_MAX - 5000 ? 1 : 997) visit(p);
  for (int shift = 1; shift < 31; ++shift) {
    for (int64_t p = (int64_t{1} << shift) - 3; p <= (int64_t{1} << shift) + 3; ++p) {
      visit(p);
      visit(INT_MAX - p);
    }
  }
}

TEST(PriorityBucket, InRange) {
  EXPECT_EQ(bucket(0), 0);
  EXPECT_LT(bucket(INT_MAX), kPriorityBuckets);
  for_priorities([](int64_t p) {
    if (p < 0 || p > INT_MAX) return;
    ASSERT_GE(bucket(p), 0);
    ASSERT_LE(bucket(p), bucket(INT_MAX));
  });
}

TEST(PriorityBucket, Monotone) {
  int64_t last = 0;
  for (int64_t p = 0; p <= INT_MAX; p += p < 5000 || p > INT_MAX - 5000 ? 1 : 997) {
    ASSERT_LE(bucket(last), bucket(p)) << p;
    last = p;
  }
  for (int shift = 1; shift < 31; ++shift) {
    for (int64_t p = (int64_t{1} << shift) - 3; p < (int64_t{1} << shift) + 3; ++p) {
      if (p < 0) continue;
      ASSERT_LE(bucket(p), bucket(p + 1)) << p;
    }
  }
}

TEST(PriorityBucket, ExactAtTheEnds) {
  for (int64_t p = 0; p < 127; ++p) {
    EXPECT_EQ(bucket(p) + 1, bucket(p + 1)) << p;
    EXPECT_EQ(bucket(INT_MAX - p) - 1, bucket(INT_MAX - p - 1)) << p;
  }
}

// Two priorities of one bucket differ by less than a part in 64 of their distance from the nearer end.
TEST(PriorityBucket, Bound) {
  for_priorities([](int64_t p) {
    if (p < 1 || p >= INT_MAX) return;
    int64_t distance = std::min(p, INT_MAX - p);
    int64_t step = distance / 64 + 1;
    if (p >= step) {
      ASSERT_LT(bucket(p - step), bucket(p)) << p;
    }
  });
}

TEST(PriorityBucket, ExactMode) {
  for (int p = 0; p < kPriorityBuckets; ++p) EXPECT_EQ(priority_bucket_of(p, true), p);
}

}  // namespace
}  // namespace marline
