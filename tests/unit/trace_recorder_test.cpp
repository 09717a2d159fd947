// SPDX-License-Identifier: Apache-2.0
//
// trace/base/recorder.hpp: when a recording may end. All of the recorder is linked here.
#include "base/recorder.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/process.hpp"

namespace marline::trace {
namespace {

class Recorder : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    setenv("MARLINE_TRACE_DIR", folder.c_str(), 1);
    ASSERT_TRUE(start_recording());
  }
  static void TearDownTestSuite() {
    store_state(kNever);  // nothing is written at the exit
    std::filesystem::remove_all(folder);
  }
  // What it says on stderr.
  static std::string stop() {
    testing::internal::CaptureStderr();
    stop_recording("disk", "full", "free some");
    return testing::internal::GetCapturedStderr();
  }
  static inline std::string folder = testing::TempDir() + "marline-XXXXXX";
};

TEST_F(Recorder, StopsOnce) {
  store_state(kRecording);
  EXPECT_EQ(stop(), "marline-trace: disk: full; recording stops: free some\n");
  EXPECT_FALSE(recording());
  EXPECT_TRUE(described());
  EXPECT_EQ(stop(), "");
}

// The description of that name is another trace's, or the parent's: it must not be written at the exit.
TEST_F(Recorder, StaysWithoutATrace) {
  store_state(kNever);
  EXPECT_EQ(stop(), "");
  EXPECT_FALSE(described());
}

TEST_F(Recorder, StaysLeftOut) {
  store_state(kDescribed);
  EXPECT_EQ(stop(), "");
  EXPECT_FALSE(transition_to_ended());
}

}  // namespace
}  // namespace marline::trace
