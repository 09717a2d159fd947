// SPDX-License-Identifier: Apache-2.0
//
// Writes JSON to a socket. It allocates nothing, because a hanging thread may hold the lock of malloc. One thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline {

class ReportStream {
 public:
  explicit ReportStream(int socket) : socket_(socket) {}

  void put(const char* text, size_t length);
  void print(const char* format, ...) __attribute__((format(printf, 2, 3)));

  // Write brackets and the values between them, each with a comma before it if one is needed. No key: an element of a
  // list.
  void open(const char* key, char bracket);
  void close(char bracket);
  void number(const char* key, int64_t value);
  void address(const char* key, const void* value);
  void string(const char* key, const char* value);
  void hexadecimal(const char* key, const unsigned char* bytes, size_t count);
  void begin_value(const char* key);

  // False: the other side is gone or too slow.
  bool flush();

 private:
  void quote(const char* value);

  int socket_;
  bool broken_ = false;
  bool comma_ = false;  // a value has been written in the same brackets
  size_t used_ = 0;
  char buffer_[8192];
};

}  // namespace marline
