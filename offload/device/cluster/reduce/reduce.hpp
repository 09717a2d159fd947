// SPDX-License-Identifier: Apache-2.0
//
// Task reductions on a cluster. A node's regions have copies (region_copies.hpp). At the end of the taskgroup the nodes
// that have some combine them along a tree: each its own, and then what the nodes below it have, and the root's result
// goes to the program. A node's part in that is a task of the core like a kernel, so bytes move and wait as any others.
#pragma once

#include "device/cluster/worker/node.hpp"
#include "device/cluster/reduce/region_copies.hpp"

namespace marline::offload::device {

using namespace cluster;

// How such a task is called in messages and traces.
inline constexpr const char* kCombination = "combination of a task reduction";

// At a node, by the thread that runs the region: while it lives, the arguments that point into reduced variables point
// into copies of the region's own.
class ReducingRegion {
 public:
  ReducingRegion(const ClusterNode& node, KernelStart& kernel);
  ~ReducingRegion();
  ReducingRegion(const ReducingRegion&) = delete;
  ReducingRegion& operator=(const ReducingRegion&) = delete;

 private:
  struct Taken {
    uint64_t buffer;
    const char* copy;
  };
  List<Taken> taken_;
};

// Likewise, by the thread that runs the task (KernelCall::combines). Its words: where the program has what combines
// (ProgramPlace), the buffer that stands for the copies, its address, its bytes, where the result goes, whether it
// starts there with the initial value, and then where the results of the nodes below lie.
void combine_copies(const ClusterNode& node, const KernelStart& kernel);

// The same for a worker's GPU, by the one task that it runs (reduce_gpu.cpp). The kernel's ranges are there.
void take_gpu_copies(int gpu, KernelStart& kernel);
void combine_gpu_copies(int gpu, const ClusterNode& node, const KernelStart& kernel);

// What the words say of the reduced argument of that number; and what combines, by a combination's. For the above.
[[nodiscard]] ReducedWords reduced_of(const KernelStart& kernel, uint32_t i);
[[nodiscard]] Combine combine_of(const ClusterNode& node, const KernelStart& kernel);

}  // namespace marline::offload::device
