// SPDX-License-Identifier: Apache-2.0
//
// Describes how a node starts a kernel, without the arguments. The program sends it to the node with each task, or once
// with a plan of a persistent graph.
#pragma once

#include "device/cluster/protocol/blob.hpp"

namespace marline::offload::device {

// The words after the arguments that describe one argument which points into a variable of a task reduction.
struct ReducedWords {
  uint64_t word;                    // the argument's number
  uint64_t buffer, address, bytes;  // of the buffer that stands for the copies (ReducedArgument)
};

inline constexpr uint32_t kReducedWords = sizeof(ReducedWords) / sizeof(uint64_t);

struct KernelCall {
  uint64_t code = 0;  // address of the code at the node
  // Offset in the program's file of the text that says where the region is in the source (image/program.hpp).
  uint64_t place = 0;
  int32_t thread_limit = 0;  // 0: no limit
  bool in_memory = false;    // the kernel's one argument is the address of the words
  int number = 0;            // the device number that the region sees
  bool combines = false;     // the task combines the copies of a task reduction (reduce.hpp)
  // The kernel's one argument is the address of an array of pointers to the words (Entry::by_pointers).
  bool by_pointers = false;
  // The node may postpone the comparison of what the kernel has written (ClusterHead::may_postpone).
  bool may_postpone = false;
  uint32_t reduced = 0;  // number of ReducedWords at the end of the words
  // Number of OwnPatch between the arguments and the ReducedWords.
  uint32_t patches = 0;

  bool operator==(const KernelCall&) const = default;

  void write(BlobWriter& blob) const {
    blob.put(code);
    blob.put(place);
    blob.put(static_cast<uint64_t>(thread_limit));
    blob.put(uint64_t{in_memory} | uint64_t{combines} << 1 | uint64_t{by_pointers} << 2 | uint64_t{may_postpone} << 3 |
             uint64_t{reduced} << 4);
    blob.put(static_cast<uint64_t>(number));
    blob.put(patches);
  }
  void read(BlobReader& blob) {
    code = blob.get();
    place = blob.get();
    thread_limit = static_cast<int32_t>(blob.get());
    uint64_t flags = blob.get();
    in_memory = (flags & 1) != 0;
    combines = (flags & 2) != 0;
    by_pointers = (flags & 4) != 0;
    may_postpone = (flags & 8) != 0;
    reduced = static_cast<uint32_t>(flags >> 4);
    number = static_cast<int>(blob.get());
    patches = static_cast<uint32_t>(blob.get());
  }
};

}  // namespace marline::offload::device
