// SPDX-License-Identifier: Apache-2.0
//
// base/check.hpp: one line each, cut if too long, errno kept; fatal and a failed assertion end by SIGABRT.
#include "base/check.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace marline {
namespace {

TEST(Log, WarnIsOneLineAndKeepsErrno) {
  testing::internal::CaptureStderr();
  errno = 4711;
  warn("%s is %d", "answer", 42);
  EXPECT_EQ(errno, 4711);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "marline: warning: answer is 42\n");
}

TEST(Log, WarningsCanBeSwitchedOff) {
  testing::internal::CaptureStderr();
  set_warnings(false);
  warn("unheard");
  set_warnings(true);
  warn("heard");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "marline: warning: heard\n");
}

TEST(Log, TooLongIsCutAndStillEnds) {
  testing::internal::CaptureStderr();
  warn("%s", std::string(5000, 'x').c_str());
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_EQ(line.size(), 1023u);
  EXPECT_EQ(line.back(), '\n');
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(LogDeathTest, FatalAborts) {
  EXPECT_EXIT(fatal("no %s left", "rope"), testing::KilledBySignal(SIGABRT), "^marline: fatal: no rope left\n$");
}

TEST(LogDeathTest, AssertNamesTheCondition) {
  const int one = 1;
  EXPECT_EXIT(MARLINE_ASSERT(one == 2), testing::KilledBySignal(SIGABRT), "log_test.cpp:.*one == 2");
  MARLINE_ASSERT(one == 1);
}

}  // namespace
}  // namespace marline
