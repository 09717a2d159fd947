// SPDX-License-Identifier: Apache-2.0
//
// Copies that go past the caches move all bytes, and no others, wherever they begin and end.
#include "base/streamed.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace {

using marline::offload::copy_streamed;

TEST(Streamed, AllBytesAndNoOthers) {
  constexpr size_t kRoom = 700, kLarge = size_t{1} << 30;
  std::vector<char> from(kRoom), to(kRoom), expected(kRoom);
  for (size_t i = 0; i < kRoom; ++i) from[i] = static_cast<char>(i * 7 + i / 256);
  for (size_t whole : {size_t{1}, kLarge}) {
    for (size_t at = 0; at < 70; at += 3) {
      for (size_t bytes = 0; bytes < kRoom - 70; bytes += 1 + bytes / 9) {
        std::fill(to.begin(), to.end(), 1);
        std::fill(expected.begin(), expected.end(), 1);
        std::copy_n(from.begin() + 5, bytes, expected.begin() + static_cast<long>(at));
        copy_streamed(to.data() + at, from.data() + 5, bytes, whole);
        ASSERT_EQ(to, expected) << bytes << " bytes at " << at;
      }
    }
  }
}

}  // namespace
