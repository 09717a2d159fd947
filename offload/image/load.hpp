// SPDX-License-Identifier: Apache-2.0
//
// Images for this processor: shared libraries that are loaded from memory. Any thread.
#pragma once

#include "image/images.hpp"

namespace marline::offload::image {

// A file in memory with a copy of the image. Ends the program if there is no room.
[[nodiscard]] int copy_image(const Image& image);

// Loads such a file, which stays open until the image is unloaded: a library with variables of its own. Ends the
// program with the loader's reason if it cannot be loaded.
[[nodiscard]] void* load_image(int file);
void unload_image(void* handle);

// The file in memory of a loaded image, by the loader's path of it; -1: that is the path of another library. Also in
// handlers of signals.
[[nodiscard]] int file_of_image(const char* path);

// Whether this is an image that is loaded now.
[[nodiscard]] bool is_loaded_image(void* handle);

// Where a loaded image lies.
struct ImageRange {
  uint64_t begin, end;
};
[[nodiscard]] ImageRange range_of_image(void* handle);

// Of a loaded image; 0: not there, or the image is null.
[[nodiscard]] uint64_t find_in_image(void* handle, const char* name);

// The same, with the symbol's size; 0 where that is not known.
[[nodiscard]] uint64_t find_sized(void* handle, const char* name, size_t& bytes);

}  // namespace marline::offload::image
