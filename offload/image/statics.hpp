// SPDX-License-Identifier: Apache-2.0
//
// Lists the variables in the symbol table of an image, unless it has been stripped. These include static variables of
// files and functions, which no other file can see and which the compiler's tables leave out.
#pragma once

#include "image/compiler_layout.hpp"

namespace marline::offload::image {

struct ImageVariable {
  const char* name;  // points into the image's file
  uint64_t offset;   // from the image's load address
  uint64_t bytes;
};

// Calls visit(data, variable) for each variable whose memory can be written once the image is loaded.
void visit_variables(const Image& elf, void (*visit)(void* data, const ImageVariable& variable), void* data);

}  // namespace marline::offload::image
