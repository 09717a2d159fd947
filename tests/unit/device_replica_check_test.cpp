// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_CLUSTER_WRITES=check: reports bytes that two tasks on two nodes have written when neither task has seen the
// other's bytes.
#include "device/cluster/replica/replica.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace {

using namespace marline::offload;
using namespace marline::offload::device;

class Checked : public testing::Test {
 protected:
  static constexpr uint64_t kBytes = 600;
  struct Side {
    char data[kBytes] = {}, twin[kBytes] = {};
    Replica replica{1, data, twin, kBytes};
    PointerSink sink = {1, 1, {}};
    Side() { replica.watch_merges(); }
    void compare(uint64_t stamp) { replica.compare({1, 0, kBytes}, stamp, Replica::kNotSole, sink); }
    List<ChangedBytes> changes(uint64_t offset = 0, uint64_t bytes = kBytes) {
      List<ChangedBytes> found;
      replica.list_changes({1, offset, bytes}, found);
      return found;
    }
    void merge(Side& from) {
      BlobWriter blob;
      from.replica.pack({1, 0, kBytes}, 0, blob);
      size_t bytes = blob.bytes();
      char* packed = blob.take();
      BlobReader reader(packed, bytes);
      replica.merge(reader);
      std::free(packed);
    }
  };

  uint64_t found_at_home(const List<ChangedBytes>& changes) {
    FoundBytes found;
    for (const ChangedBytes& one : changes) home_.replica.count_newer(one, kTask, found);
    return found.count;
  }

  static constexpr uint64_t kTask = 5 << 16 | 1, kOther = 5 << 16 | 2;
  Side home_, node_;
};

TEST_F(Checked, BytesOfOneTaskAreNobodyElses) {
  node_.data[10] = 1, node_.data[11] = 2, node_.data[300] = 3;
  home_.data[12] = 9;  // by another running task
  List<ChangedBytes> changes = node_.changes();
  ASSERT_EQ(changes.count(), 2U);
  EXPECT_EQ(changes[0].range.offset, 10U);
  EXPECT_EQ(changes[0].range.bytes, 2U);
  node_.compare(kTask);
  EXPECT_EQ(found_at_home(changes), 0U);
  home_.merge(node_);  // by a third node, before the list comes
  EXPECT_EQ(found_at_home(changes), 0U);
  EXPECT_EQ(home_.replica.take_overwritten({1, 0, kBytes}).count, 0U);
}

TEST_F(Checked, BytesOfTwoTasksAreFoundAtHome) {
  node_.data[10] = 1, node_.data[300] = 3;
  List<ChangedBytes> changes = node_.changes();
  home_.data[300] = 3;  // the same value: both tasks have raised a counter
  EXPECT_EQ(found_at_home(changes), 1U);
  home_.compare(kOther);  // with the same clock
  EXPECT_EQ(found_at_home(changes), 1U);
}

TEST_F(Checked, RunsEndWithTheirRanges) {
  node_.data[10] = 1, node_.data[11] = 1;
  List<ChangedBytes> changes = node_.changes(0, 11);
  node_.replica.list_changes({1, 11, 20}, changes);
  ASSERT_EQ(changes.count(), 2U);
  EXPECT_EQ(changes[1].range.offset, 11U);
}

TEST_F(Checked, WhatArrivesForChangedBytesIsNotedByRange) {
  home_.data[20] = 1, home_.data[40] = 1;
  node_.data[20] = 2, node_.data[40] = 2, node_.data[60] = 2;
  node_.compare(kTask);
  home_.merge(node_);
  EXPECT_EQ(home_.replica.take_overwritten({1, 0, 20}).count, 0U);
  FoundBytes found = home_.replica.take_overwritten({1, 20, 1});
  EXPECT_EQ(found.count, 1U);
  EXPECT_EQ(found.first, 20U);
  EXPECT_EQ(home_.replica.take_overwritten({1, 0, kBytes}).count, 1U);
  EXPECT_EQ(home_.replica.take_overwritten({1, 0, kBytes}).count, 0U);
}

}  // namespace
