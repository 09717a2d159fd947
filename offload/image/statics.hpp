// SPDX-License-Identifier: Apache-2.0
//
// The variables of an image that its symbol table has, unless it has been stripped: also those that no other file can
// see, static ones of files and functions, which the compiler's tables leave out.
#pragma once

#include "image/compiler_layout.hpp"

namespace marline::offload::image {

struct ImageVariable {
  const char* name;  // in the image's file
  uint64_t offset;   // from where the image lies
  uint64_t bytes;
};

// Calls visit(data, variable) for each variable whose memory can be written once the image is loaded.
void visit_variables(const Image& elf, void (*visit)(void* data, const ImageVariable& variable), void* data);

}  // namespace marline::offload::image
