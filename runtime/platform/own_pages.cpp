// SPDX-License-Identifier: Apache-2.0
//
// Maps, unmaps and pins pages.
#include "platform/own_pages.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/atomic.hpp"
#include "base/check.hpp"

namespace marline {
namespace {

size_t page_size() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

size_t whole_pages(size_t bytes) { return (bytes + page_size() - 1) & ~(page_size() - 1); }

void say_not_pinned(size_t bytes, int error) {
  static Atomic<bool> said{false};  // set by any thread
  if (said.exchange(true, relaxed)) return;
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  warn(
      "%zu bytes cannot be pinned (%s): allocators with the trait pinned fall back; the limit is %llu KiB, `ulimit -l` "
      "changes it",
      bytes, strerror(error), static_cast<unsigned long long>(limit.rlim_cur / 1024));
}

}  // namespace

char* own_pages_map(size_t bytes, size_t alignment) {
  const size_t length = whole_pages(bytes);
  const size_t slack = alignment > page_size() ? alignment : 0;
  void* mapped = mmap(nullptr, length + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(mapped);
  if (slack == 0) return begin;
  size_t before = (alignment - (reinterpret_cast<uintptr_t>(begin) & (alignment - 1))) & (alignment - 1);
  if (before != 0) munmap(begin, before);
  if (before != slack) munmap(begin + before + length, slack - before);
  return begin + before;
}

char* own_pages_map_low(size_t bytes) {
#ifdef MAP_32BIT
  constexpr int kLow = MAP_32BIT;
#else
  constexpr int kLow = 0;
#endif
  void* wished = reinterpret_cast<void*>(uintptr_t{1} << 30);  // above programs linked at fixed addresses
  void* mapped = mmap(wished, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | kLow, -1, 0);
  return mapped == MAP_FAILED ? own_pages_map(bytes, 1) : static_cast<char*>(mapped);
}

void own_pages_unmap(char* pages, size_t bytes) { munmap(pages, whole_pages(bytes)); }

bool own_pages_pin(char* pages, size_t bytes) {
  if (mlock(pages, bytes) == 0) return true;
  say_not_pinned(bytes, errno);
  return false;
}

}  // namespace marline
