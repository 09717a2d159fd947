// SPDX-License-Identifier: Apache-2.0
//
// Copies that the program's own thread makes, to and from memory that it shares with a device.
#pragma once

#include <cstddef>
#include <cstring>

namespace marline::offload::device {

// Between two pieces of a long copy the thread looks what devices have ended meanwhile: perhaps no other thread does.
// A progress hook, which must not call itself, makes short copies only (registry/region.cpp, kMostBytesInHook).
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
