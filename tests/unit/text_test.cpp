// SPDX-License-Identifier: Apache-2.0
//
// common/text.hpp, readers.hpp and options.hpp: reading values from left to right, text in a buffer that may be too
// small, and rows of option tables.
#include "../common/options.hpp"
#include "../common/readers.hpp"

#include <gtest/gtest.h>

#include <string>

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

TEST(Cursor, RealNumbers) {
  double value;
  Cursor in(" 1.5 s");
  EXPECT_TRUE(in.accept_real(value));
  EXPECT_EQ(value, 1.5);
  EXPECT_TRUE(in.accept_word("s"));
  EXPECT_FALSE(Cursor("s").accept_real(value));
}

TEST(Readers, PlainBytes) {
  auto bytes = [](const char* text) {
    Cursor in(text);
    size_t value;
    return read_plain_bytes(in, value) && in.at_end() ? static_cast<int64_t>(value) : -1;
  };
  EXPECT_EQ(bytes("5"), 5);
  EXPECT_EQ(bytes("5k"), 5 << 10);
  EXPECT_EQ(bytes("2G"), int64_t{2} << 30);
  EXPECT_EQ(bytes(" 5 k "), 5 << 10);
  for (const char* bad : {"", "k", "5B", "+5", "5kk", "99999999999G"}) EXPECT_EQ(bytes(bad), -1) << bad;
}

constexpr OptionRow<int> kRow = {"MARLINE_X", "3", "a number from 0 to 9", "For this test.",
                                 [](Cursor& in, int& to) { return read_number(in, 0, 9, to); }};

TEST(OptionRow, BadValuesAreRefusedAndTheDefaultHolds) {
  const struct {
    const char* value;
    int expected;
    const char* refused;
  } cases[] = {{nullptr, 3, ""}, {" ", 3, ""}, {" 7 ", 7, ""}, {"77", 3, "77"}, {"7,x", 3, ",x"}};
  for (const auto& one : cases) {
    int value = -1;
    std::string refused;
    EXPECT_TRUE(read_option(kRow, one.value, value, [&](const char* rest) { refused = rest; }));
    EXPECT_EQ(value, one.expected);
    EXPECT_EQ(refused, one.refused);
  }
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
