// SPDX-License-Identifier: Apache-2.0
//
// Images for this processor: shared libraries that are loaded from memory. Any thread.
#pragma once

#include "image/images.hpp"

namespace marline::target {

// A new copy of the image, with variables of its own; ends the program with the loader's reason if it cannot be loaded.
[[nodiscard]] void* load_image(const Image& image);

// Of a loaded image; 0: not there, or the image is null.
[[nodiscard]] uint64_t find_in_image(void* handle, const char* name);

}  // namespace marline::target
