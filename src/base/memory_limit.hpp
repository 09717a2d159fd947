// SPDX-License-Identifier: Apache-2.0
//
// The limit on address space that batch systems set (`ulimit -v`, RLIMIT_AS): how much it is, what to say of it, and where
// memory is left when the system maps no more. Any thread.
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

// Memory that malloc has reserved already: glibc's arenas take 64 MiB of addresses each, and under a limit most of it may
// be there. The last resort when mmap has failed, for what the runtime cannot do without: it comes out of what the
// program's own mallocs would have got. Not zeroed, never given back. Null: there is none. `alignment`: a power of two.
[[nodiscard]] void* memory_from_arenas(size_t bytes, size_t alignment);

}  // namespace marline
