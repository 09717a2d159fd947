// SPDX-License-Identifier: Apache-2.0
//
// Which devices a worker is, by MARLINE_NODE_DEVICES: its processor as one device, or parts of it, and its GPUs.
// Constant after the first call, which is the first thread's.
#pragma once

#include "base/facts.hpp"
#include "device/processor/cpu_parts.hpp"

namespace marline::offload::device {

inline constexpr int kMostWorkerDevices = kMostCpuParts;  // further GPUs are left out

struct WorkerDevice {
  const CpuPart* part;  // null: the whole processor, and its threads are as the program's are
  int gpu;              // its number among the worker's GPUs; -1: none
  DeviceFacts facts;    // uid: what comes behind the name of the worker
};

struct WorkerDevices {
  int count;
  WorkerDevice devices[kMostWorkerDevices];
};

// How many workers of this node have lower numbers. Before the next call, by the worker's first thread.
void note_workers_before(int count);

// Ends the process for a value that cannot be used.
[[nodiscard]] const WorkerDevices& worker_devices();

// What the cluster's members are, by MARLINE_DEVICES; unless MARLINE_NODE_DEVICES says otherwise, workers are just
// that.
enum class ClusterOf : uint8_t {
  kProcessors,
  kGpus,  // `cluster:gpu`: one for each worker
  kAll    // `cluster:all`: one for each worker as far as its node has enough, and the processor for the others
};
[[nodiscard]] ClusterOf cluster_members();
// Whether a worker's device, its GPU or not, is one of them.
[[nodiscard]] bool is_cluster_member(bool is_gpu);

// In the program: whether its own environment says that a worker may be several devices.
[[nodiscard]] bool expects_several_devices();

}  // namespace marline::offload::device
