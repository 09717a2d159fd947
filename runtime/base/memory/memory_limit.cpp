// SPDX-License-Identifier: Apache-2.0
//
// Reads the limit on address space, and reserves memory for the time when it is reached.
#include "base/memory/memory_limit.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/atomic.hpp"

namespace marline {
namespace {

// The first reserved byte that has not been taken, a multiple of kKeptUnit; 0: none.
Atomic<uintptr_t> kept{0};
Atomic<uintptr_t> kept_end{0};

uintptr_t units_of(uintptr_t bytes) { return (bytes + kKeptUnit - 1) & ~(kKeptUnit - 1); }

}  // namespace

size_t address_space_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
  return limit.rlim_cur;
}

// The first number of statm is the size in pages. Without stdio, which would allocate a buffer by malloc.
size_t address_space_left() {
  const size_t limit = address_space_limit();
  const int file = limit != 0 ? open("/proc/self/statm", O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return SIZE_MAX;
  char text[32] = {};
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return SIZE_MAX;
  const size_t used = strtoull(text, nullptr, 10) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return used < limit ? limit - used : 0;
}

AddressSpaceText::AddressSpaceText() : text_{} {
  const size_t limit = address_space_limit();
  if (limit != 0) snprintf(text_, sizeof text_, " (address space is limited to %zu KiB: `ulimit -v`)", limit / 1024);
}

void keep_memory_back() {
  constexpr size_t kShareOfLimit = 64;
  constexpr size_t kMostKept = 64 * 1024 * 1024;
  static Atomic<bool> asked{false};
  if (asked.load(relaxed) || asked.exchange(true, relaxed)) return;
  const size_t bytes = std::min(address_space_limit() / kShareOfLimit, kMostKept);
  if (bytes < 2 * kKeptUnit) return;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(memory);
  kept_end.store(begin + bytes, relaxed);
  kept.store(units_of(begin), std::memory_order_release);  // pairs with kept_memory
}

void* kept_memory(size_t bytes) {
  uintptr_t begin = kept.load(std::memory_order_acquire);  // pairs with keep_memory_back
  do {
    if (begin == 0 || kept_end.load(relaxed) - begin < bytes) return nullptr;
  } while (!kept.compare_exchange_weak(begin, std::min(begin + units_of(bytes), kept_end.load(relaxed)), relaxed));
  return reinterpret_cast<void*>(begin);
}

void* last_memory(size_t bytes, size_t alignment) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1));
  return memory != nullptr ? memory : kept_memory(bytes);
}

}  // namespace marline
