// SPDX-License-Identifier: Apache-2.0
//
// Reads this process's memory through /proc/self/mem.
#include "platform/own_memory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace marline {

OwnMemory::OwnMemory() : fd_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}

OwnMemory::~OwnMemory() {
  if (fd_ >= 0) close(fd_);
}

bool OwnMemory::read(const void* from, void* to, size_t bytes) const {
  auto at = static_cast<off_t>(reinterpret_cast<uintptr_t>(from));
  return pread(fd_, to, bytes, at) == static_cast<ssize_t>(bytes);
}

bool OwnMemory::read_string(const char* from, char* to, size_t bytes) const {
  constexpr size_t kPiece = 64;  // aligned pieces, because the string may end right before memory that is not mapped
  size_t have = 0;
  while (have + 1 < bytes) {
    size_t piece = kPiece - (reinterpret_cast<uintptr_t>(from) + have) % kPiece;
    if (piece > bytes - 1 - have) piece = bytes - 1 - have;
    if (!read(from + have, to + have, piece)) return false;
    if (std::memchr(to + have, 0, piece) != nullptr) return true;
    have += piece;
  }
  to[have] = 0;
  return true;
}

}  // namespace marline
