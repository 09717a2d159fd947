// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers, and appends formatted text.
#include "config/text.hpp"

namespace marline {

bool Cursor::accept_number(int64_t low, int64_t high, int64_t& result) {
  const char* here = at_;
  const bool negative = *here == '-';
  if (*here == '-' || *here == '+') ++here;
  if (*here < '0' || *here > '9') return false;
  int64_t value = 0;
  for (; *here >= '0' && *here <= '9'; ++here) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value)) return false;
    const int64_t digit = *here - '0';
    if (__builtin_add_overflow(value, negative ? -digit : digit, &value)) return false;
  }
  if (value < low || value > high) return false;
  result = value;
  at_ = here;
  skip_space();
  return true;
}

bool Cursor::accept_unsigned(uint64_t& result) {
  const char* here = at_;
  const bool hex = here[0] == '0' && lower(here[1]) == 'x';
  if (hex) here += 2;
  const uint64_t base = hex ? 16 : 10;
  uint64_t value = 0;
  int digits = 0;
  for (;; ++here, ++digits) {
    uint64_t digit;
    if (*here >= '0' && *here <= '9') {
      digit = static_cast<uint64_t>(*here - '0');
    } else if (hex && lower(*here) >= 'a' && lower(*here) <= 'f') {
      digit = static_cast<uint64_t>(lower(*here) - 'a') + 10;
    } else {
      break;
    }
    if (__builtin_mul_overflow(value, base, &value) || __builtin_add_overflow(value, digit, &value)) return false;
  }
  if (digits == 0) return false;
  result = value;
  at_ = here;
  skip_space();
  return true;
}

void Text::add(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t room = size_ - length_;
  const int wanted = vsnprintf(buffer_ + length_, room, format, arguments);
  va_end(arguments);
  if (wanted > 0) length_ += static_cast<size_t>(wanted) < room ? static_cast<size_t>(wanted) : room - 1;
}

}  // namespace marline
