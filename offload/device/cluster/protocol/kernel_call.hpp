// SPDX-License-Identifier: Apache-2.0
//
// Describes how a node starts a kernel, without the arguments. The program sends it to the node with each task, or once
// with a plan of a persistent graph.
#pragma once

#include "device/cluster/protocol/blob.hpp"

namespace marline::offload::device {

// Describes one argument that points into a variable of a task reduction. The last words of a kernel are these records.
struct ReducedWords {
  uint64_t word;                    // the argument's index among the kernel's words
  uint64_t buffer, address, bytes;  // of the buffer that represents the copies of all kernels (ReducedArgument)
};

inline constexpr uint32_t kReducedWords = sizeof(ReducedWords) / sizeof(uint64_t);

struct KernelCall {
  uint64_t code = 0;  // the code's address on the node
  // Offset in the program's file of the text that says where the region is in the source (image/program.hpp).
  uint64_t place = 0;
  int32_t thread_limit = 0;  // 0: no limit
  bool in_memory = false;    // code of GCC: the kernel's only argument is the address of the words
  int number = 0;            // the device number that the region sees
  bool combines = false;     // the task combines the copies of a task reduction (reduce.hpp)
  // The kernel's only argument is the address of an array of pointers to the words (Entry::by_pointers).
  bool by_pointers = false;
  // The node may postpone the comparison of what the kernel has written (ClusterHead::may_postpone).
  bool may_postpone = false;
  // A kernel's words are its arguments, the words of its own memory (own_words.hpp), `patches` records OwnPatch, and
  // `reduced` records ReducedWords.
  uint32_t reduced = 0;
  uint32_t patches = 0;

  bool operator==(const KernelCall&) const = default;
};

// Writes the call to a BlobWriter, or reads it from a BlobReader.
void pass_call(auto& blob, auto& call) {
  blob.words(call.code, call.place, call.thread_limit, call.number, call.reduced, call.patches);
  blob.flags(call.in_memory, call.combines, call.by_pointers, call.may_postpone);
}

}  // namespace marline::offload::device
