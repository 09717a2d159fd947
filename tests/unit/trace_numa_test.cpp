// SPDX-License-Identifier: Apache-2.0
//
// trace/kernel/numa.hpp on files in the form of /proc/self/numa_maps (numa(7)).
#include "kernel/numa.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace marline::trace {
namespace {

class Numa : public testing::Test {
 protected:
  void read(const std::string& text) {
    const int file = memfd_create("numa_maps", 0);
    ASSERT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ASSERT_EQ(lseek(file, 0, SEEK_SET), 0);
    add_pages(file, bytes);
    close(file);
  }
  uint64_t bytes[kMostNodes] = {};
};

TEST_F(Numa, AddsOwnPagesOfAllMappings) {
  read(
      "00400000 default file=/usr/local/bin/app mapped=1 mapmax=3 active=0 N3=1 kernelpagesize_kB=4\n"
      "00600000 default file=/usr/local/bin/app anon=1 dirty=1 N3=1 kernelpagesize_kB=4\n"
      "008e8000 default heap anon=30 dirty=30 N0=10 N1=20 kernelpagesize_kB=4\n"
      "7f1a00000000 prefer:1 anon=5 dirty=5 active=0 N1=5 kernelpagesize_kB=4\n"
      "7fff2c1b6000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n");
  EXPECT_EQ(bytes[0], 13u * 4096);
  EXPECT_EQ(bytes[1], 25u * 4096);
  EXPECT_EQ(bytes[3], 1u * 4096);
}

TEST_F(Numa, TakesThePageSizeOfEachMapping) {
  read(
      "2aaaaac00000 default file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048\n"
      "7f2a10000000 interleave:0-1 anon=7 dirty=7 N0=4 N1=3 kernelpagesize_kB=64\n");
  EXPECT_EQ(bytes[0], 4u * 64 * 1024);
  EXPECT_EQ(bytes[1], 2u * 2048 * 1024 + 3u * 64 * 1024);
}

TEST_F(Numa, ReadsWordsThatAreCutByABlock) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "7f1a00000000 default anon=5 dirty=5 N0=2 N10=3 kernelpagesize_kB=4\n";
  read(text);
  EXPECT_EQ(bytes[0], 2000u * 4096);
  EXPECT_EQ(bytes[10], 3000u * 4096);
}

TEST_F(Numa, LeavesOutNodesThatItHasNoPlaceFor) {
  read("7f1a00000000 default anon=5 N64=5 N63=1 kernelpagesize_kB=4\nunfinished default anon=5 N0=5");
  EXPECT_EQ(bytes[63], 1u * 4096);
  EXPECT_EQ(bytes[0], 0u);
}

TEST_F(Numa, IgnoresLongPaths) {
  read("7f1a00000000 default file=/" + std::string(5000, 'N') + " anon=1 N2=1 kernelpagesize_kB=4\n");
  EXPECT_EQ(bytes[2], 1u * 4096);
}

TEST(NumaMachine, HasANodeForTheFirstCpu) {
  EXPECT_GE(memory_nodes(), 1);
  EXPECT_GE(node_of_cpu(0), -1);
  EXPECT_EQ(node_of_cpu(1 << 20), -1);
}

}  // namespace
}  // namespace marline::trace
