// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a cluster on a worker's GPU. The GPU has the cluster's addresses, so pointers in data hold there; the
// node's copies, which other nodes fetch from and merge into, are in the worker's memory (replica_gpu.cpp). A task
// brings to the GPU what that lacks, and its comparison takes back what other nodes may ask for. One task runs at a
// time.
#pragma once

#include "device/cluster/worker/node.hpp"

namespace marline::offload::device {

// The worker's GPU.
extern const GpuMemory kGpuMemory;

// Null: it is no kernel of a GPU.
[[nodiscard]] const char* name_of_gpu_kernel(const KernelStart& kernel);

// By a task, which may be suspended. Without the node's lock.
void run_on_gpu(ClusterNode& node, KernelStart& kernel);

}  // namespace marline::offload::device
