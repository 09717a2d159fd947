// SPDX-License-Identifier: Apache-2.0
//
// Kernels and `declare target` variables of a cluster. Each node has them at its own addresses. The program knows a
// kernel by a number, and a variable by an address in the cluster's memory. Any thread.
#pragma once

#include "device/contract/device.hpp"
#include "device/cluster/head/head.hpp"

namespace marline::offload::device {

using namespace cluster;
using namespace image;

inline constexpr NodeNumber kMostNodes = kMostDevices;

// Ends the program if there is no kernel with this number.
[[nodiscard]] KernelCodes codes_of(uint64_t kernel);

// The functions of these names in DeviceKind, for a cluster.
uint64_t load_on_cluster(Device* device, Module* module);
void unload_on_cluster(Device* device, uint64_t handle);
uint64_t find_on_cluster(Device* device, uint64_t handle, const char* name);
uint64_t locate_on_cluster(Device* device, const void* address, size_t bytes);

// EarlySubmission::start_find.
void start_find_on_cluster(Device* device, Entry* kernel, Operation* operation);

}  // namespace marline::offload::device
