// SPDX-License-Identifier: Apache-2.0
//
// common/text.hpp: reading values from left to right, and text in a buffer that may be too small.
#include "../common/text.hpp"

#include <gtest/gtest.h>

namespace marline {
namespace {

TEST(Cursor, WordsAreWholeAndCaseFree) {
  Cursor in("  CLOSE , closer");
  EXPECT_FALSE(in.accept_word("clos"));
  EXPECT_TRUE(in.accept_word("close"));
  EXPECT_TRUE(in.accept(','));
  EXPECT_FALSE(in.accept_word("close"));
  EXPECT_STREQ(in.rest(), "closer");
}

TEST(Cursor, NumbersStayInRangeOrAreNotRead) {
  int64_t value = 7;
  Cursor in("12 x");
  EXPECT_FALSE(in.accept_number(0, 11, value));
  EXPECT_EQ(value, 7);
  EXPECT_TRUE(in.accept_number(0, 12, value));
  EXPECT_EQ(value, 12);
  EXPECT_FALSE(in.accept_number(0, 12, value));
  EXPECT_STREQ(in.rest(), "x");
}

TEST(Cursor, NumbersAtTheEdges) {
  int64_t value = 0;
  EXPECT_TRUE(Cursor("-9223372036854775808").accept_number(INT64_MIN, INT64_MAX, value));
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_TRUE(Cursor("+9223372036854775807").accept_number(INT64_MIN, INT64_MAX, value));
  EXPECT_EQ(value, INT64_MAX);
  EXPECT_FALSE(Cursor("9223372036854775808").accept_number(INT64_MIN, INT64_MAX, value));
  EXPECT_FALSE(Cursor("-").accept_number(INT64_MIN, INT64_MAX, value));
  EXPECT_FALSE(Cursor("").accept_number(INT64_MIN, INT64_MAX, value));
}

TEST(Cursor, UnsignedInBothBases) {
  uint64_t value = 0;
  EXPECT_TRUE(Cursor("18446744073709551615").accept_unsigned(value));
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_TRUE(Cursor("0xfFfFfFfFfFfFfFfF").accept_unsigned(value));
  EXPECT_EQ(value, UINT64_MAX);
  EXPECT_FALSE(Cursor("18446744073709551616").accept_unsigned(value));
  EXPECT_FALSE(Cursor("0x").accept_unsigned(value));
  EXPECT_FALSE(Cursor("-1").accept_unsigned(value));
}

TEST(Text, CutsWhatDoesNotFit) {
  char buffer[8] = "zzzzzzz";
  Text text(buffer, sizeof buffer);
  EXPECT_STREQ(text.c_str(), "");
  text.add("%d", 12345);
  text.add("%s", "abcdef");
  EXPECT_STREQ(text.c_str(), "12345ab");
  EXPECT_EQ(text.length(), 7u);
  text.add("more");
  EXPECT_EQ(text.length(), 7u);
}

}  // namespace
}  // namespace marline
