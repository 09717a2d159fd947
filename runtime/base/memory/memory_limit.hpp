// SPDX-License-Identifier: Apache-2.0
//
// The limit on address space that batch systems set (`ulimit -v`, RLIMIT_AS): its size, the text for messages, and
// memory that is left when the system maps no more. Any thread.
#pragma once

#include <cstddef>

namespace marline {

// The limit in bytes, from the system; 0: there is none.
size_t address_space_limit();

// Bytes that can still be mapped; SIZE_MAX without a limit, or if the system does not say.
size_t address_space_left();

// The text for messages: " (address space is limited to N KiB: `ulimit -v`)", or nothing.
class AddressSpaceText {
 public:
  AddressSpaceText();
  const char* c_str() const { return text_; }

 private:
  char text_[96];
};

// If there is a limit, reserves 1/64 of it, at most 64 MiB. Called once, as early as possible; later calls do nothing.
void keep_memory_back();

// Takes reserved memory, for blocks without which the runtime cannot continue, when mmap has failed. Address and size
// are multiples of kKeptUnit, and the memory is zeroed. The caller may unmap the memory, but it is not reserved again.
// Null: there is none left.
inline constexpr size_t kKeptUnit = 64 * 1024;
[[nodiscard]] void* kept_memory(size_t bytes);

// The last resort for such blocks: memory that malloc has reserved. glibc's arenas take 64 MiB of addresses each, and
// with a limit most of the memory may be there; it is then missing for the program's own mallocs. But a thread without
// its own arena, like the initial thread, gets nothing from the arenas of other threads (glibc's arena_get2 asks for a
// new one). Then this function uses the reserved memory. Not zeroed, never given back. Null: there is none.
// `alignment`: a power of two up to kKeptUnit.
[[nodiscard]] void* last_memory(size_t bytes, size_t alignment);

}  // namespace marline
