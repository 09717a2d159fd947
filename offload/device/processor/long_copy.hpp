// SPDX-License-Identifier: Apache-2.0
//
// Copies bytes on the program's own thread, to and from memory that it shares with a device.
#pragma once

#include <cstddef>
#include <cstring>

namespace marline::offload::device {

// A long copy is made in pieces of so many bytes. Between two of them the thread polls for operations of devices that
// have ended, as perhaps no other thread does. A progress hook must not call itself, so it makes only copies that are
// short (registry/region.cpp, kMostBytesInHook).
inline constexpr size_t kCopyPiece = size_t{2} << 20;

inline void copy_and_poll(void* to, const void* from, size_t bytes, int (*poll)(void*)) {
  auto* target = static_cast<char*>(to);
  auto* source = static_cast<const char*>(from);
  while (bytes > kCopyPiece) {
    std::memcpy(target, source, kCopyPiece);
    target += kCopyPiece;
    source += kCopyPiece;
    bytes -= kCopyPiece;
    (void)poll(nullptr);
  }
  std::memcpy(target, source, bytes);
}

}  // namespace marline::offload::device
