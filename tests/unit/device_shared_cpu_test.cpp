// SPDX-License-Identifier: Apache-2.0
//
// A thread that takes turns with its sender moves to another CPU, and may run where it could before.
#include "device/processor/shared_cpu.hpp"

#include <gtest/gtest.h>

#include <sched.h>

namespace marline::offload::device {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

// The CPUs on which the thread may run.
cpu_set_t allowed() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  EXPECT_EQ(sched_getaffinity(0, sizeof cpus, &cpus), 0);
  return cpus;
}

// Whether the thread moves after so many commands that come while it yields. The system may move it, too, so a test
// asks about most of several tries.
bool moves(SharedCpu& cpu, int commands, uint64_t time) {
  int before = sched_getcpu();
  for (int i = 0; i < commands; ++i) cpu.note_command(true, time);
  return sched_getcpu() != before;
}

int moves_of(int tries, int commands, uint64_t between) {
  SharedCpu cpu;
  int moved = 0;
  for (int i = 0; i < tries; ++i) {
    if (moves(cpu, commands, kSecond + static_cast<uint64_t>(i) * between)) ++moved;
    cpu.note_command(false, kSecond);
  }
  return moved;
}

TEST(SharedCpu, LeavesACpuOnWhichItTakesTurns) {
  cpu_set_t before = allowed();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU";
  EXPECT_GE(moves_of(20, 16, kSecond), 15);
  cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

TEST(SharedCpu, AFewTurnsDoNotMoveIt) { EXPECT_LE(moves_of(20, 15, kSecond), 5); }

TEST(SharedCpu, MovesAreRare) { EXPECT_LE(moves_of(20, 16, 1), 5); }

TEST(SharedCpu, AThreadThatIsBoundStays) {
  cpu_set_t before = allowed(), one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(sched_getcpu()), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(moves_of(5, 16, kSecond), 0);
  cpu_set_t after = allowed();
  EXPECT_TRUE(CPU_EQUAL(&one, &after));
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

}  // namespace
}  // namespace marline::offload::device
