// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of Fortran arrays in one piece: their bytes as they were copied to the device last. GCC's constructs say
// each array's, and most have not changed. (What a kernel changes in its descriptor stays, as with libgomp, which
// copies one when the array's data is mapped anew.) Under the lock of the mapping. Sorted: O(log n) to look one up, and
// to note the next one behind all others; a structure's components come in that order.
#pragma once

#include "base/array.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::data {

class Descriptors {
 public:
  // The host's bytes are those.
  [[nodiscard]] bool has(uintptr_t begin, size_t bytes) const;
  // The host's bytes are being copied.
  void note(uintptr_t begin, size_t bytes);
  // Others are copied there, in either direction.
  void forget(uintptr_t begin, size_t bytes);
  void clear();

 private:
  struct Known {
    uintptr_t begin;
    uint32_t bytes, at;  // in `copies_`
    bool is_valid;
  };
  [[nodiscard]] uint32_t first_from(uintptr_t begin) const;

  Array<Known, 1> known_;
  Array<char, 1> copies_;
};

}  // namespace marline::offload::data
