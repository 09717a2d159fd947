// SPDX-License-Identifier: Apache-2.0
//
// Fills the program's heap before the fork, and reserves the program's addresses in the device's process. It relies on
// how glibc's malloc lays out its heap: a block's header takes 16 bytes before it; the last chunk of the heap, the top,
// has at least 32 bytes; freed blocks of up to 1032 bytes are kept by size. With a malloc that does otherwise, less is
// unreadable. Linux places a mapping that has no given address from the top down, in the highest gap that is large
// enough.
#include "device/process/memory.hpp"

#include "base/report.hpp"
#include "device/processor/window.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" void* __libc_stack_end;  // set by the loader: where the first thread's stack began

namespace marline::offload::device {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)

// The sanitizers have mallocs and address spaces of their own.
void part_heap() {}
void end_parting_heap() {}
void give_up_memory() {}
bool is_given_up(uint64_t) { return false; }
void give_up_stack(void (*function)()) {
  function();
  __builtin_unreachable();
}

#else

namespace {

constexpr size_t kPage = 4096;  // a system with larger pages refuses some ranges, so less memory becomes unreadable
constexpr size_t kRest = 48;    // bytes at the end of a page that stay in malloc's top chunk
constexpr size_t kLargestKept = 1032;
constexpr size_t kSmallestChunk = 32, kHeader = 8;
constexpr size_t kMostFilled = 256 << 10;          // bytes of free blocks to take before the first fork
constexpr uint64_t kReserved = uint64_t{4} << 40;  // more than a program maps
constexpr size_t kStackBytes = 256 << 10;

struct Extent {
  uintptr_t begin, end;
  bool is_stack;
};

// Reads the lines of a file without malloc and without a mapping: both would leave something at the addresses where the
// program's memory goes on.
class Lines {
 public:
  explicit Lines(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)) {}
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  ~Lines() {
    if (file_ >= 0) close(file_);
  }

  // The next line, in parts if it is long. Null: there is none.
  const char* next() {
    size_t length = 0;
    for (;;) {
      if (at_ == count_ && !read_more()) break;
      char c = buffer_[at_++];
      if (c == '\n' || length + 1 == sizeof line_) break;
      line_[length++] = c;
    }
    line_[length] = '\0';
    return length != 0 ? line_ : nullptr;
  }

 private:
  bool read_more() {
    ssize_t count = file_ >= 0 ? read(file_, buffer_, sizeof buffer_) : 0;
    at_ = 0;
    count_ = count > 0 ? static_cast<size_t>(count) : 0;
    return count_ != 0;
  }

  int file_;
  size_t at_ = 0, count_ = 0;
  char buffer_[4096];
  char line_[256];
};

// Calls `function` for each mapping, in the order of the addresses. The stack is the last one.
template <class Function>
void for_mappings(Function function) {
  Lines lines("/proc/self/maps");
  while (const char* line = lines.next()) {
    Extent extent = {};
    if (std::sscanf(line, "%lx-%lx", &extent.begin, &extent.end) != 2) continue;
    extent.is_stack = std::strstr(line, "[stack]") != nullptr;
    function(extent);
    if (extent.is_stack) return;
  }
}

bool make_unreadable(uintptr_t begin, uintptr_t end) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  auto* wanted = reinterpret_cast<void*>(begin);
  void* mapped = begin < end ? mmap(wanted, end - begin, PROT_NONE, kFlags, -1, 0) : MAP_FAILED;
  if (mapped != MAP_FAILED && mapped != wanted) munmap(mapped, end - begin);  // an old kernel ignores the last flag
  return mapped == wanted;
}

// The addresses that are reserved for the program's next mappings. The process's only thread writes them before it has
// others, and they are never removed. Ranges that do not fit in are not known.
constexpr uint32_t kMostGivenUp = 1024;
Extent g_given_up[kMostGivenUp];
uint32_t g_given_up_count = 0;

void note_given_up(uintptr_t begin, uintptr_t end) {
  if (g_given_up_count < kMostGivenUp) g_given_up[g_given_up_count++] = {begin, end, false};
}

// Reserves the addresses where the program's next mappings will lie: where the system places a mapping of kReserved
// bytes, and the gaps above it. The gap below the stack stays free for the stack. If the system maps below the window
// (window.hpp), the gap below the window stays free too: the program will not map there.
void reserve_mappings() {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* reserved = mmap(nullptr, kReserved, PROT_NONE, kFlags, -1, 0);
  if (reserved == MAP_FAILED) return;
  uintptr_t begin = reinterpret_cast<uintptr_t>(reserved) + kReserved, end = begin;
  note_given_up(begin - kReserved, begin);
  for_mappings([&](const Extent& one) {
    bool is_beyond = begin < kWindow && one.begin >= kWindow;
    if (one.end <= begin || one.is_stack || is_beyond) return;
    if (make_unreadable(end, one.begin)) note_given_up(end, one.begin);
    end = one.end;
  });
}

// The bytes of malloc's top, which is no block. mallinfo counts modulo 4 GiB; mallinfo2 came with glibc 2.33.
size_t unused_top() {
  struct Info {
    size_t of_blocks[9], keepcost;  // as struct mallinfo2 (malloc.h)
  };
  using Mallinfo2 = Info (*)();
  auto mallinfo2 = reinterpret_cast<Mallinfo2>(dlsym(RTLD_DEFAULT, "mallinfo2"));
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // mallinfo
  return mallinfo2 != nullptr ? mallinfo2().keepcost : static_cast<unsigned>(mallinfo().keepcost);
}

// Where the heap's blocks end: the begin of malloc's top.
uintptr_t top_of_heap() { return reinterpret_cast<uintptr_t>(sbrk(0)) - unused_top(); }

// Allocates the free blocks below the top and never frees them, so that the program's next blocks come from the top.
void fill_heap() {
  uintptr_t top = top_of_heap();
  size_t filled = 0;
  for (size_t bytes = kLargestKept; bytes >= 24 && filled < kMostFilled; bytes -= 16) {
    void* block;
    do {
      block = std::malloc(bytes);
      filled += bytes;
    } while (block != nullptr && reinterpret_cast<uintptr_t>(block) < top && filled < kMostFilled);
  }
}

bool g_is_filled = false;  // guarded by the lock under which devices are started

}  // namespace

// Leaves only the last kRest bytes of a page to the top, so that the device's process can give back all pages after it.
// If a block does not come from the top, it allocates another one.
void part_heap() {
  if (!g_is_filled) fill_heap();
  g_is_filled = true;
  for (int tries = 0; tries < 8; ++tries) {
    size_t bytes = (2 * kPage - kRest - top_of_heap() % kPage) % kPage;
    if (bytes == 0) return;
    if (bytes < kSmallestChunk) bytes += kPage;
    if (std::malloc(bytes - kHeader) == nullptr) fatal("no memory for a process as a device");
  }
}

void end_parting_heap() {
  if (std::malloc(kRest - kHeader) == nullptr) fatal("no memory for a process as a device");
}

// The page after the heap becomes unreadable, so the heap cannot grow, and malloc maps memory instead.
void give_up_memory() {
  reserve_mappings();
  malloc_trim(0);
  auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  (void)make_unreadable((end + kPage - 1) & ~(kPage - 1), ((end + kPage - 1) & ~(kPage - 1)) + kPage);
}

bool is_given_up(uint64_t address) {
  for (uint32_t i = 0; i < g_given_up_count; ++i) {
    if (address >= g_given_up[i].begin && address < g_given_up[i].end) return true;
  }
  return false;
}

namespace {

void (*g_goes_on)();

// Makes the program's stack unreadable, but for its begin, where the arguments and the environment lie.
void leave_stack() {
  auto begin = reinterpret_cast<uintptr_t>(__libc_stack_end) & ~(kPage - 1);
  for_mappings([begin](const Extent& one) {
    bool has_begin = one.is_stack && one.begin < begin && begin < one.end;
    if (has_begin) mprotect(reinterpret_cast<void*>(one.begin), begin - one.begin, PROT_NONE);
  });
  g_goes_on();
}

}  // namespace

void give_up_stack(void (*function)()) {
  g_goes_on = function;
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  ucontext_t context;
  if (stack == MAP_FAILED || getcontext(&context) != 0) fatal("a process as a device: no stack: %s", strerror(errno));
  context.uc_stack.ss_sp = stack;
  context.uc_stack.ss_size = kStackBytes;
  context.uc_link = nullptr;
  makecontext(&context, leave_stack, 0);
  setcontext(&context);
  fatal("a process as a device: no stack: %s", strerror(errno));
}

#endif

}  // namespace marline::offload::device
