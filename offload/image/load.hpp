// SPDX-License-Identifier: Apache-2.0
//
// Loads images for this processor: they are shared libraries, loaded from memory. Any thread.
#pragma once

#include "image/images.hpp"

namespace marline::offload::image {

// Returns a file in memory with a copy of the image. Ends the program if there is no room.
[[nodiscard]] int copy_image(const Image& image);

// Loads such a file: a library with variables of its own. The file stays open until the image is unloaded. Ends the
// program with the loader's reason if the file cannot be loaded.
[[nodiscard]] void* load_image(int file);
void unload_image(void* handle);

// The file in memory of a loaded image, by the path that the loader has for it; -1: that is the path of another
// library. May be called in signal handlers.
[[nodiscard]] int file_of_image(const char* path);

// Whether `handle` is an image that is loaded now.
[[nodiscard]] bool is_loaded_image(void* handle);

// The addresses of a loaded image.
struct ImageRange {
  uint64_t begin, end;
};
[[nodiscard]] ImageRange range_of_image(void* handle);

// The address of a symbol in a loaded image; 0: there is no such symbol, or the image is null.
[[nodiscard]] uint64_t find_in_image(void* handle, const char* name);

// The same, with the symbol's size; 0 if the size is not known.
[[nodiscard]] uint64_t find_sized(void* handle, const char* name, size_t& bytes);

}  // namespace marline::offload::image
