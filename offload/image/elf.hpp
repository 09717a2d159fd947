// SPDX-License-Identifier: Apache-2.0
//
// Finds the ELF file inside an image that the compiler's code registers. Any thread.
#pragma once

#include "image/compiler_layout.hpp"

namespace marline::offload::image {

// The ELF file in an image; empty if the image contains none.
[[nodiscard]] Image elf_in(const WireImage& image);

// Whether the ELF file is for this processor.
[[nodiscard]] bool is_native(const Image& elf);

// Whether the ELF file is for AMD's GPUs.
[[nodiscard]] bool is_amds(const Image& elf);

}  // namespace marline::offload::image
