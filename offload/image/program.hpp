// SPDX-License-Identifier: Apache-2.0
//
// Places in the program's own code and data, and in that of its libraries, as another process of the same program finds
// them: the loader puts modules elsewhere there. Any thread.
#pragma once

#include <cstdint>

namespace marline::offload::image {

// `module` is made of the file's build id (or, where it has none, of its code), so that it is the same wherever the
// same file is loaded, and another one for any other file. 0: no module.
struct ProgramPlace {
  uint64_t module;
  uint64_t offset;  // behind the module's load address
};

[[nodiscard]] ProgramPlace place_of_address(const void* address);

// Null: no such module is loaded here.
[[nodiscard]] const void* address_of_place(const ProgramPlace& place);

// Of an address in the program's own file, quickly; 0: it is elsewhere, or null.
[[nodiscard]] uint64_t offset_in_program(const void* address);

// The text there; null: there is none that ends.
[[nodiscard]] const char* text_in_program(uint64_t offset);

// Of the program itself.
[[nodiscard]] uint64_t program_identity();

}  // namespace marline::offload::image
