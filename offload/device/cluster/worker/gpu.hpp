// SPDX-License-Identifier: Apache-2.0
//
// Runs kernels of a cluster on a worker's GPU. The GPU has the cluster's addresses, so pointers in data are valid
// there. The node's replicas, from which other nodes fetch and into which they merge, lie in the worker's memory
// (replica_gpu.cpp). A task copies to the GPU the bytes that are missing there, and its comparison copies back the
// bytes that other nodes may ask for. One task runs at a time.
#pragma once

#include "device/cluster/worker/node.hpp"

namespace marline::offload::device {

// The memory of the worker's GPU.
extern const GpuMemory kGpuMemory;

// The name of the task in messages and traces; null: its code is not that of a kernel on the GPU.
[[nodiscard]] const char* name_of_gpu_kernel(const KernelStart& kernel);

// Runs a task on the GPU: a kernel, or the combination of a task reduction. Called by the task, which may be suspended,
// without the node's lock.
void run_on_gpu(ClusterNode& node, KernelStart& kernel);

}  // namespace marline::offload::device
