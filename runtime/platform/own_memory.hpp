// SPDX-License-Identifier: Apache-2.0
//
// Reads this process's memory through /proc/self/mem while other threads change and free it. Memory that is no longer
// mapped gives an error instead of a fault, and threads that write need not know of the reader. The copy may be
// inconsistent, so the caller must check it. One thread per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

namespace marline {

class OwnMemory {
 public:
  OwnMemory();
  ~OwnMemory();
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  bool is_open() const { return fd_ >= 0; }
  bool read(const void* from, void* to, size_t bytes) const;

  // Copies a string of at most `bytes` - 1 characters; cuts a longer one.
  bool read_string(const char* from, char* to, size_t bytes) const;

 private:
  int fd_;
};

// A copy of a T that is not constructed and never destroyed: it may hold atomics.
template <class T>
class MemoryCopy {
 public:
  bool take(const OwnMemory& memory, const T* from) { return from != nullptr && memory.read(from, bytes_, sizeof(T)); }
  const T* operator->() const { return std::launder(reinterpret_cast<const T*>(bytes_)); }

 private:
  alignas(T) char bytes_[sizeof(T)];
};

}  // namespace marline
