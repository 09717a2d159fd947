// SPDX-License-Identifier: Apache-2.0
//
// Texts that a signal handler may put together, with little stack: it finds the disk full where a sample fills a
// window. strerror and snprintf are not async-signal-safe (signal-safety(7)): they may allocate memory and take locks.
#ifndef MARLINE_TRACE_ERROR_TEXT_HPP
#define MARLINE_TRACE_ERROR_TEXT_HPP

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace marline::trace {

// A text of at most `kBytes - 1` bytes; what is longer is cut.
template <size_t kBytes>
class ShortText {
 public:
  ShortText& add(const char* text) {
    const size_t length = strlen(text);
    const size_t more = length < kBytes - 1 - length_ ? length : kBytes - 1 - length_;
    memcpy(text_ + length_, text, more);
    length_ += more;
    text_[length_] = '\0';
    return *this;
  }
  ShortText& add(uint64_t number) {
    char digits[24];
    char* first = digits + sizeof digits - 1;
    *first = '\0';
    do *--first = static_cast<char>('0' + number % 10);
    while ((number /= 10) != 0);
    return add(first);
  }
  const char* text() const { return text_; }
  size_t length() const { return length_; }

 private:
  char text_[kBytes] = {};
  size_t length_ = 0;
};

// What writing to a file can meet, in strerror's words; the number of any other error.
inline ShortText<40> error_text(int error) {
  ShortText<40> text;
  switch (error) {
    case ENOSPC: return text.add("No space left on device");
    case EDQUOT: return text.add("Disk quota exceeded");
    case EFBIG: return text.add("File too large");
    case EIO: return text.add("Input/output error");
    case ENOMEM: return text.add("Cannot allocate memory");
    default: return text.add("error ").add(static_cast<uint64_t>(error));
  }
}

}  // namespace marline::trace

#endif
