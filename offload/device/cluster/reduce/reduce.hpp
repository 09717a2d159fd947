// SPDX-License-Identifier: Apache-2.0
//
// Task reductions on a cluster. The regions of a node work on copies of the reduced variable (region_copies.hpp). At
// the end of the taskgroup, the nodes that have copies form a tree: each node combines its own copies and then the
// results of the nodes below it, and the program gets the root's result. A node's part of this is a task of the core,
// like a kernel: the core moves its data and keeps its order.
#pragma once

#include "device/cluster/worker/node.hpp"
#include "device/cluster/reduce/region_copies.hpp"

namespace marline::offload::device {

using namespace cluster;

// The name of a task that combines copies, in messages and traces.
inline constexpr const char* kCombination = "combination of a task reduction";

// Used at a node by the thread that runs a region. While the object lives, the arguments that point into reduced
// variables point into copies that no other region uses.
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

// Runs a combination at a node (KernelCall::combines). Called by the thread that runs the task. The task's words: the
// program's combine function as a ProgramPlace (two words), the buffer that stands for the copies, its address, its
// size, the address of the result, whether this task initialises the result, and then the addresses of the results of
// the nodes below.
void combine_copies(const ClusterNode& node, const KernelStart& kernel);

// The same for a worker's GPU (reduce_gpu.cpp). take_gpu_copies lets the kernel's arguments point into copies on the
// GPU. Called by the task, which is the only one that runs. The kernel's ranges are on the GPU.
void take_gpu_copies(int gpu, KernelStart& kernel);
void combine_gpu_copies(int gpu, const ClusterNode& node, const KernelStart& kernel);

// `reduced_of` reads the words about the i-th reduced argument of a kernel, `combine_of` the combine function of a
// combination. Used by the functions above.
[[nodiscard]] ReducedWords reduced_of(const KernelStart& kernel, uint32_t i);
[[nodiscard]] Combine combine_of(const ClusterNode& node, const KernelStart& kernel);

}  // namespace marline::offload::device
