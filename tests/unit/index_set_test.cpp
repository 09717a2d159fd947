// SPDX-License-Identifier: Apache-2.0
//
// base/index_set.hpp: the least member, over both levels of bits.
#include "base/index_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace marline {
namespace {

using Small = IndexSet<8192>;

TEST(IndexSet, FindsTheLeast) {
  Small set;
  EXPECT_EQ(set.first(), Small::kNone);
  for (size_t index : {8191u, 4096u, 4095u, 64u, 63u, 0u}) {
    set.insert(index);
    EXPECT_EQ(set.first(), index);
    EXPECT_EQ(set.last(), 8191u);
    EXPECT_TRUE(set.contains(index));
  }
  set.erase(0);
  EXPECT_EQ(set.first(), 63u);
  EXPECT_FALSE(set.contains(0));
  for (size_t index : {63u, 64u, 4095u, 4096u, 8191u}) set.erase(index);
  EXPECT_EQ(set.first(), Small::kNone);
}

TEST(IndexSet, AgreesWithAnOrderedSet) {
  Small set;
  std::set<size_t> model;
  std::mt19937 random(7);
  for (int step = 0; step < 100'000; ++step) {
    const size_t index = random() % 8192;
    if (random() % 2 != 0) {
      set.insert(index);
      model.insert(index);
    } else {
      set.erase(index);
      model.erase(index);
    }
    ASSERT_EQ(set.first(), model.empty() ? Small::kNone : *model.begin());
    ASSERT_EQ(set.last(), model.empty() ? Small::kNone : *model.rbegin());
  }
}

}  // namespace
}  // namespace marline
