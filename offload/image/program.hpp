// SPDX-License-Identifier: Apache-2.0
//
// Describes places in the program's own code and data, and in its libraries, so that another process of the same
// program finds them: the loader puts modules elsewhere there. Any thread.
#pragma once

#include <cstdint>

namespace marline::offload::image {

// `module` is made of the file's build id (or, if it has none, of its code), so that it is the same wherever the same
// file is loaded, and differs for any other file. 0: no module.
struct ProgramPlace {
  uint64_t module;
  uint64_t offset;  // relative to the module's load address
};

[[nodiscard]] ProgramPlace place_of_address(const void* address);

// Returns null if no such module is loaded here.
[[nodiscard]] const void* address_of_place(const ProgramPlace& place);

// The offset of an address in the program's own file, found quickly; 0: the address is elsewhere, or null.
[[nodiscard]] uint64_t offset_in_program(const void* address);

// The text at that offset; null: no null-terminated text is there.
[[nodiscard]] const char* text_in_program(uint64_t offset);

// The identity (ProgramPlace::module) of the program itself.
[[nodiscard]] uint64_t program_identity();

}  // namespace marline::offload::image
