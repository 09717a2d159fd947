// SPDX-License-Identifier: Apache-2.0
//
// Formats JSON into a buffer and sends the buffer to a socket.
#include "exec/view/report_stream.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace marline {

bool ReportStream::flush() {
  const char* at = buffer_;
  while (used_ > 0 && !broken_) {
    ssize_t sent = send(socket_, at, used_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    broken_ = sent <= 0;
    if (broken_) break;
    at += sent;
    used_ -= static_cast<size_t>(sent);
  }
  used_ = 0;
  return !broken_;
}

void ReportStream::put(const char* text, size_t length) {
  while (length > 0) {
    if (used_ == sizeof buffer_) flush();
    size_t piece = length < sizeof buffer_ - used_ ? length : sizeof buffer_ - used_;
    std::memcpy(buffer_ + used_, text, piece);
    used_ += piece;
    text += piece;
    length -= piece;
  }
}

void ReportStream::print(const char* format, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  if (length > 0) put(line, static_cast<size_t>(length) < sizeof line ? static_cast<size_t>(length) : sizeof line - 1);
}

void ReportStream::begin_value(const char* key) {
  if (comma_) put(",", 1);
  comma_ = true;
  if (key == nullptr) return;
  quote(key);
  put(":", 1);
}

void ReportStream::open(const char* key, char bracket) {
  begin_value(key);
  put(&bracket, 1);
  comma_ = false;
}

void ReportStream::close(char bracket) {
  put(&bracket, 1);
  comma_ = true;
}

void ReportStream::number(const char* key, int64_t value) {
  begin_value(key);
  print("%lld", static_cast<long long>(value));
}

// As a string: numbers of JSON have 53 bits in many a reader.
void ReportStream::address(const char* key, const void* value) {
  begin_value(key);
  print("\"%#llx\"", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(value)));
}

void ReportStream::string(const char* key, const char* value) {
  begin_value(key);
  quote(value);
}

void ReportStream::quote(const char* value) {
  put("\"", 1);
  for (; *value != 0; ++value) {
    auto c = static_cast<unsigned char>(*value);
    if (c == '"' || c == '\\' || c < 0x20) {
      print("\\u%04x", c);
    } else {
      put(value, 1);
    }
  }
  put("\"", 1);
}

void ReportStream::hexadecimal(const char* key, const unsigned char* bytes, size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  begin_value(key);
  put("\"", 1);
  for (size_t i = 0; i < count; ++i) {
    char pair[2] = {kDigits[bytes[i] >> 4], kDigits[bytes[i] & 15]};
    put(pair, 2);
  }
  put("\"", 1);
}

}  // namespace marline
