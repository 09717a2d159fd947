// SPDX-License-Identifier: Apache-2.0
//
// The descriptors of Fortran arrays in one map entry: their bytes as they were last copied to the device. GCC's
// constructs name the descriptor of each array, and most descriptors have not changed. (What a kernel changes in its
// descriptor stays, as with libgomp, which copies a descriptor when the array's data is mapped anew.) Guarded by the
// lock of the data environment. The list is sorted: a look-up takes O(log n), and so does adding a descriptor after all
// others, which is the order of a structure's components.
#pragma once

#include "base/list.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::data {

class Descriptors {
 public:
  // Whether the host's bytes are the bytes that were last copied.
  [[nodiscard]] bool has(uintptr_t begin, size_t bytes) const;
  // Records that the host's bytes are being copied to the device.
  void note(uintptr_t begin, size_t bytes);
  // Other bytes are copied there, in either direction: descriptors that overlap them are no longer known.
  void forget(uintptr_t begin, size_t bytes);
  void clear();

 private:
  struct Known {
    uintptr_t begin;
    uint32_t bytes, at;  // `at`: index in `copies_`
    bool is_valid;
  };
  [[nodiscard]] uint32_t first_from(uintptr_t begin) const;

  List<Known, 1> known_;
  List<char, 1> copies_;
};

}  // namespace marline::offload::data
