// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a cluster on a worker's GPU. The GPU has the cluster's addresses, so pointers in data hold there; the
// node's copies, which other nodes fetch from and merge into, are in the worker's memory. A task brings all that it may
// use to the GPU, and takes back the bytes that its kernel has changed: what other tasks' writes have meanwhile changed
// in the copies stays. One task runs at a time.
#pragma once

#include "device/cluster/cluster_node.hpp"

namespace marline::target {

// Null: it is no kernel of a GPU.
[[nodiscard]] const char* name_of_gpu_kernel(const KernelStart& kernel);

// By a task, which may be suspended. Without the node's lock.
void run_on_gpu(ClusterNode& node, KernelStart& kernel);

}  // namespace marline::target
