// SPDX-License-Identifier: Apache-2.0
//
// How a kernel is started at a node, whatever its arguments are: from the program to the node with a task, or once with
// a plan of a persistent graph.
#pragma once

#include "device/cluster/protocol/blob.hpp"

namespace marline::offload::device {

// What the words behind the arguments say of an argument that points into a variable of a task reduction.
struct ReducedWords {
  uint64_t word;                    // which argument
  uint64_t buffer, address, bytes;  // that stands for the copies (ReducedArgument)
};

inline constexpr uint32_t kReducedWords = sizeof(ReducedWords) / sizeof(uint64_t);

struct KernelCall {
  uint64_t code = 0;          // where the node has it
  uint64_t place = 0;         // offset of its place in the program's file (image/program.hpp)
  int32_t thread_limit = 0;   // 0: none
  bool in_memory = false;     // its one argument is the address of the words
  int number = 0;             // that it knows its device by
  bool combines = false;      // the code is what combines a task reduction's copies (reduce.hpp)
  bool by_pointers = false;   // its one argument is that of an array, of pointers to the words (Entry::by_pointers)
  bool may_postpone = false;  // the comparison of what it has written (ClusterHead::may_postpone)
  uint32_t reduced = 0;       // so many ReducedWords are behind the arguments
  uint32_t patches = 0;       // and, before those, so many OwnPatch

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
