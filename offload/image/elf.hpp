// SPDX-License-Identifier: Apache-2.0
//
// What is inside an image as the compiler's code registers it. Any thread.
#pragma once

#include "image/compiler_layout.hpp"

namespace marline::offload::image {

// The ELF file in an image; empty if it is none.
[[nodiscard]] Image elf_in(const WireImage& image);

// Whether it is for this processor.
[[nodiscard]] bool is_native(const Image& elf);

// Whether it is for GPUs of AMD's.
[[nodiscard]] bool is_amds(const Image& elf);

}  // namespace marline::offload::image
