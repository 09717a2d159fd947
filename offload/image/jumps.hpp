// SPDX-License-Identifier: Apache-2.0
//
// Makes the addresses of the program's functions lead to functions of images in this process, for kernels that call by
// a pointer which the program has given them (declare target indirect). A page at such an address gets a jump, unless
// this process has something else there. In a forked process, the memory of libraries that the program opens later is
// unreadable (device/process/memory.hpp), and jumps replace it. Any thread.
#pragma once

#include "image/images.hpp"

#include <cstdint>

namespace marline::offload::image {

// The result, as a worker process reports it.
enum class Jump : uint64_t {
  kNoFunction,  // the image has no function of that name
  kMade,
  kOccupied,  // this process has something else at the address
  kTaken,     // the address leads to another function already
  kRefused,   // the system does not allow code at the address
};

// Makes `from` lead to a function of a loaded image; the image has a pointer to that function with the name `pointer`.
// `may_replace`: the page at `from` is only reserved for the program.
[[nodiscard]] Jump make_jump(uint64_t from, void* image, const char* pointer, bool may_replace = false);

// In the program: whether `entry` is an entry for such a function.
[[nodiscard]] bool is_indirect_function(const Entry& entry);
// In the program: warns with one line if the device could not make the jump. That is likely if both processes have
// opened libraries in the same order. The program may never call the function there.
void warn_unless_made(Jump made, const Entry& entry, int device, const char* kind);

// Removes the jumps that lead to code in [begin, end), which is about to be unloaded.
void remove_jumps(uint64_t begin, uint64_t end);

}  // namespace marline::offload::image
