// SPDX-License-Identifier: Apache-2.0
//
// platform/memory_domain.hpp: on this machine, where the system is asked about pages, and on a described machine.
#include "platform/memory_domain.hpp"
#include "platform/topology/topology_read.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace marline {
namespace {

class MemoryDomain : public testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = 8 * page_;
    memory_ = static_cast<char*>(aligned_alloc(8 * page_, bytes_));
    memset(memory_, 1, bytes_);
  }
  void TearDown() override { free(memory_); }

  static void describe(const char* synthetic) {
    Topology topology;
    const char* reason = nullptr;
    ASSERT_TRUE(topology_read_description(synthetic, nullptr, nullptr, topology, reason)) << reason;
    memory_domains_init(topology);
    topology_free(topology);
  }

  size_t page_ = 0;
  size_t bytes_ = 0;
  char* memory_ = nullptr;
};

TEST_F(MemoryDomain, DescribedMachinesDealPagesOutInTurn) {
  describe("numa:2 core:2 pu:1");
  EXPECT_EQ(memory_domain_count(), 2);
  for (size_t i = 0; i < 8; ++i) {  // the first page has an even number
    DomainTally tally;
    tally.add(memory_ + i * page_, page_);
    EXPECT_EQ(tally.most(), static_cast<int>(i % 2));
  }
}

TEST_F(MemoryDomain, TheDomainWithMostOfItWins) {
  describe("numa:2 core:2 pu:1");
  DomainTally tally;
  tally.add(memory_, page_);          // domain 0
  tally.add(memory_ + page_, page_);  // domain 1
  tally.add(memory_ + 3 * page_, 8);  // a few bytes more there
  EXPECT_EQ(tally.most(), 1);
}

TEST_F(MemoryDomain, NothingLiesNowhere) {
  describe("numa:2 core:2 pu:1");
  DomainTally tally;
  EXPECT_EQ(tally.most(), -1);
  tally.add(memory_, 0);
  EXPECT_EQ(tally.most(), -1);
}

// Containers may forbid the question: then the answer is -1, and one line says so.
TEST_F(MemoryDomain, ThisMachineAnswersOrRefuses) {
  Topology topology;
  const char* reason = nullptr;
  ASSERT_TRUE(topology_read(topology, reason)) << reason;
  memory_domains_init(topology);
  topology_free(topology);
  DomainTally first;
  first.add(memory_, bytes_);
  EXPECT_GE(first.most(), -1);
  EXPECT_LT(first.most(), memory_domain_count());
  DomainTally again;  // from the table
  again.add(memory_, bytes_);
  EXPECT_EQ(first.most(), again.most());
}

}  // namespace
}  // namespace marline
