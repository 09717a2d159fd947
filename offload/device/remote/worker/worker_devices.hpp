// SPDX-License-Identifier: Apache-2.0
//
// Decides which devices a worker is, by MARLINE_NODE_DEVICES: its processor as one device, or parts of it, and its
// GPUs. Constant after the first call of worker_devices, which the first thread makes.
#pragma once

#include "base/facts.hpp"
#include "device/processor/cpu_parts.hpp"

namespace marline::offload::device {

inline constexpr int kMostWorkerDevices = kMostCpuParts;  // further GPUs are left out

struct WorkerDevice {
  const CpuPart* part;  // null: the whole processor, with threads as in the program
  int gpu;              // its number among the worker's GPUs; -1: none
  DeviceFacts facts;    // uid: the text that follows the worker's name
};

struct WorkerDevices {
  int count;
  WorkerDevice devices[kMostWorkerDevices];
};

// Sets how many workers of this node have lower numbers. Called by the worker's first thread before worker_devices.
void note_workers_before(int count);

// Ends the process if MARLINE_NODE_DEVICES has a value that cannot be used.
[[nodiscard]] const WorkerDevices& worker_devices();

// Ends the process if MARLINE_NODE_DEVICES has a value that cannot be used. Called in the program, which has the same
// variable as its workers: otherwise it would report only that a worker has ended.
void check_worker_options();

// What the cluster's members are, by MARLINE_DEVICES. Unless MARLINE_NODE_DEVICES says otherwise, a worker is just such
// devices.
enum class ClusterOf : uint8_t {
  kProcessors,
  kGpus,  // `cluster:gpu`: one GPU for each worker
  kAll    // `cluster:all`: one GPU for each worker as long as its node has enough, and the processor for other workers
};
[[nodiscard]] ClusterOf cluster_members();
// Whether a worker's device, which is a GPU or not, is such a member.
[[nodiscard]] bool is_cluster_member(bool is_gpu);

// Called in the program: whether its own environment says that a worker may be several devices.
[[nodiscard]] bool expects_several_devices();

}  // namespace marline::offload::device
