// SPDX-License-Identifier: Apache-2.0
//
// trace/file/error_text.hpp: texts for signal handlers.
#include "file/error_text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace marline::trace {
namespace {

TEST(ErrorText, SaysWhatStrerrorSays) {
  for (const int error : {ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM}) EXPECT_STREQ(error_text(error).text(), strerror(error));
  EXPECT_STREQ(error_text(EPERM).text(), "error 1");
}

TEST(ErrorText, PutsTogetherTextsAndNumbers) {
  ShortText<64> text;
  text.add("at ").add(uint64_t{0}).add(" of ").add(~uint64_t{0});
  EXPECT_STREQ(text.text(), "at 0 of 18446744073709551615");
  EXPECT_EQ(text.length(), strlen(text.text()));
}

TEST(ErrorText, CutsWhatIsLonger) {
  ShortText<8> text;
  text.add("1234").add("5678").add("9");
  EXPECT_STREQ(text.text(), "1234567");
}

}  // namespace
}  // namespace marline::trace
