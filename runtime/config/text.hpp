// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing the values of environment variables: a cursor over a string, and a bounded text under
// construction. No allocation, no locale. An object belongs to one thread.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace marline {

// Reads a value from left to right. White space is allowed around every item, as in the OpenMP specification, and words
// are compared without regard to case. An accept_ function that finds its item moves the cursor past it; otherwise it
// leaves the cursor and returns false.
class Cursor {
 public:
  explicit Cursor(const char* text) : at_(text) { skip_space(); }

  [[nodiscard]] bool at_end() const { return *at_ == '\0'; }
  [[nodiscard]] const char* rest() const { return at_; }

  bool accept(char wanted) {
    if (*at_ != wanted) return false;
    ++at_;
    skip_space();
    return true;
  }

  // Accepts a whole word: `close` is not found in `closer`.
  bool accept_word(const char* wanted) {
    const char* here = at_;
    for (; *wanted != '\0'; ++wanted, ++here) {
      if (lower(*here) != *wanted) return false;
    }
    if (in_word(*here)) return false;
    at_ = here;
    skip_space();
    return true;
  }

  // Accepts one of the words; returns its index, or -1.
  template <size_t N>
  int accept_one_of(const char* const (&words)[N]) {
    for (size_t i = 0; i < N; ++i) {
      if (accept_word(words[i])) return static_cast<int>(i);
    }
    return -1;
  }

  // Accepts a decimal number from `low` to `high`, with an optional sign.
  bool accept_number(int64_t low, int64_t high, int64_t& result);

  // Accepts an unsigned number, decimal or 0x hexadecimal.
  bool accept_unsigned(uint64_t& result);

  // For positions in lists: the cursor's position, and setting it again.
  [[nodiscard]] const char* mark() const { return at_; }
  void reset(const char* mark) { at_ = mark; }

 private:
  static char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
  static bool in_word(char c) { return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_'; }
  void skip_space() {
    while (*at_ == ' ' || (*at_ >= '\t' && *at_ <= '\r')) ++at_;
  }

  const char* at_;
};

// Appends to a caller's buffer; text that does not fit is cut off. The text always ends with a null byte.
class Text {
 public:
  Text(char* buffer, size_t size) : buffer_(buffer), size_(size) { buffer_[0] = '\0'; }

  void add(const char* format, ...) __attribute__((format(printf, 2, 3)));
  [[nodiscard]] size_t length() const { return length_; }
  [[nodiscard]] const char* c_str() const { return buffer_; }

 private:
  char* buffer_;
  size_t size_;
  size_t length_ = 0;
};

}  // namespace marline
