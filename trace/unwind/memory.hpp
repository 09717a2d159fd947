// SPDX-License-Identifier: Apache-2.0
//
// Reads memory of this process that may not be there: the kernel copies it (process_vm_readv, Linux 3.2), so that a
// wrong address is an answer and no fault. Whole pages are copied and kept until forget(). For signal handlers: no
// lock, no allocation. An object belongs to one thread.
#ifndef MARLINE_TRACE_UNWIND_MEMORY_HPP
#define MARLINE_TRACE_UNWIND_MEMORY_HPP

#include <stddef.h>
#include <stdint.h>

namespace marline::trace {

using u8 = uint8_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

class SafeMemory {
 public:
  // False where the kernel, or a filter of system calls, does not let a process read itself so.
  static bool works();

  // Copies `bytes`, at most a page of them, from `address`. False: not all of them are there.
  bool read(u64 address, void* to, size_t bytes);
  bool read_word(u64 address, u64& word) { return read(address, &word, sizeof word); }

  // What was copied may have changed.
  void forget();

 private:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kPages = 16;
  struct Page {
    u64 number;  // address / kPageBytes, plus 1; 0: none
    char bytes[kPageBytes];
  };

  const Page* page(u64 number);

  Page pages_[kPages];
};

}  // namespace marline::trace

#endif
