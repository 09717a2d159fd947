// SPDX-License-Identifier: Apache-2.0
//
// Addresses of the program's functions that lead to functions of images here, for kernels that call by a pointer which
// the program has given them (declare target indirect). A page at such an address gets a jump, unless this process has
// something there. What a forked one has of libraries that the program opens later is unreadable
// (device/process/memory.hpp), and jumps replace it. Any thread.
#pragma once

#include "image/images.hpp"

#include <cstdint>

namespace marline::offload::image {

// As a worker answers.
enum class Jump : uint64_t {
  kNoFunction,  // the image has none of that name
  kMade,
  kOccupied,  // this process has something else there
  kTaken,     // it leads to another function already
  kRefused,   // the system lets no code be there
};

// Lets `from` lead to the function of a loaded image, whose pointer to it has that name. `may_replace`: the page there
// is only reserved for the program.
[[nodiscard]] Jump make_jump(uint64_t from, void* image, const char* pointer, bool may_replace = false);

// In the program: whether it is an entry for such a function; and a line if the device could not make the jump, as is
// likely where both processes have opened things in the same order. The program may never call the function there.
[[nodiscard]] bool is_indirect_function(const Entry& entry);
void warn_unless_made(Jump made, const Entry& entry, int device, const char* kind);

// Takes away those that lead to code in [begin, end), which is about to go.
void remove_jumps(uint64_t begin, uint64_t end);

}  // namespace marline::offload::image
