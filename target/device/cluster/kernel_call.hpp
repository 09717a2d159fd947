// SPDX-License-Identifier: Apache-2.0
//
// How a kernel is started at a node, whatever its arguments are: from the program to the node with a task, or once with a
// plan of a persistent graph.
#pragma once

#include "device/cluster/blob.hpp"

namespace marline::target {

struct KernelCall {
  uint64_t code = 0;         // where the node has it
  uint64_t place = 0;        // offset of its place in the program's file (image/program.hpp)
  int32_t thread_limit = 0;  // 0: none
  bool in_memory = false;    // its one argument is the address of the words
  int number = 0;            // that it knows its device by

  bool operator==(const KernelCall&) const = default;

  void write(BlobWriter& blob) const {
    blob.put(code);
    blob.put(place);
    blob.put(static_cast<uint64_t>(thread_limit));
    blob.put(uint64_t{in_memory});
    blob.put(static_cast<uint64_t>(number));
  }
  void read(BlobReader& blob) {
    code = blob.get();
    place = blob.get();
    thread_limit = static_cast<int32_t>(blob.get());
    in_memory = blob.get() != 0;
    number = static_cast<int>(blob.get());
  }
};

}  // namespace marline::target
