// SPDX-License-Identifier: Apache-2.0
//
// Readers for kinds of values that several options share, used by the option tables of all libraries. Each reader moves
// the cursor and stores a result, or returns false; then the result is undefined. Stateless.
#pragma once

#include <climits>
#include <cstring>

#include "text.hpp"

namespace marline {

inline constexpr size_t kSmallestStack = 16 * 1024;

inline bool read_bool(Cursor& in, bool& result) {
  static constexpr const char* kWords[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
  const int word = in.accept_one_of(kWords);
  result = word % 2 == 1;
  return word >= 0;
}

template <class Number>
bool read_number(Cursor& in, int64_t low, int64_t high, Number& result) {
  int64_t value;
  if (!in.accept_number(low, high, value)) return false;
  result = static_cast<Number>(value);
  return true;
}

// Reads one of `words`. The result is the value of `Enum` that is the word's index plus `first`.
template <class Enum, size_t N>
bool read_word(Cursor& in, const char* const (&words)[N], Enum& result, int first = 0) {
  const int word = in.accept_one_of(words);
  result = static_cast<Enum>(word + first);
  return word >= 0;
}

// Reads a size as in OpenMP 5.1, 6.7: a number and B, K, M or G. A number without a letter counts units of 2^shift
// bytes.
inline bool read_bytes(Cursor& in, size_t& result, int shift = 10) {
  static constexpr const char* kUnits[] = {"b", "k", "m", "g"};
  int64_t number;
  if (!in.accept_number(0, INT64_MAX, number)) return false;
  const int unit = in.accept_one_of(kUnits);
  if (unit >= 0) shift = unit * 10;
  if (number > (INT64_MAX >> shift)) return false;
  result = static_cast<size_t>(number) << shift;
  return true;
}

// Reads a number of bytes: digits, and K, M or G or no letter. Any other character but a blank is an error.
inline bool read_plain_bytes(Cursor& in, size_t& result) {
  const char* text = in.rest();
  return text[strspn(text, "0123456789kKmMgG \t")] == '\0' && read_bytes(in, result, 0);
}

inline bool read_stack_size(Cursor& in, size_t& result, int shift = 10) {
  return read_bytes(in, result, shift) && result >= kSmallestStack;
}

}  // namespace marline
