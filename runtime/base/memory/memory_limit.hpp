// SPDX-License-Identifier: Apache-2.0
//
// The limit on address space that batch systems set (`ulimit -v`, RLIMIT_AS): how much it is, what to say of it, and
// where memory is left when the system maps no more. Any thread.
#pragma once

#include <cstddef>

namespace marline {

// In bytes; 0: there is none. Asks the system.
size_t address_space_limit();

// Bytes that can still be mapped; SIZE_MAX without a limit, or where the system does not say.
size_t address_space_left();

// What a message says of it: " (address space is limited to N KiB: `ulimit -v`)", or nothing.
class AddressSpaceText {
 public:
  AddressSpaceText();
  const char* c_str() const { return text_; }

 private:
  char text_[96];
};

// Under a limit, keeps 1/64 of it back, at most 64 MiB. Once, as early as possible; later calls do nothing.
void keep_memory_back();

// Of what has been kept back, for what the runtime cannot do without when mmap has failed. At a multiple of kKeptUnit,
// in multiples of it; zeroed; the caller may unmap it, but it is not kept back again. Null: there is none left.
inline constexpr size_t kKeptUnit = 64 * 1024;
[[nodiscard]] void* kept_memory(size_t bytes);

// The last resort for the same: memory that malloc has reserved. glibc's arenas take 64 MiB of addresses each, and
// under a limit most of it may be there; it comes out of what the program's own mallocs would have got. But a thread
// without an arena of its own, as the initial one, gets nothing from those of others (glibc's arena_get2 asks for a new
// one). So then, what has been kept back. Not zeroed, never given back. Null: there is none. `alignment`: a power of
// two up to kKeptUnit.
[[nodiscard]] void* last_memory(size_t bytes, size_t alignment);

}  // namespace marline
