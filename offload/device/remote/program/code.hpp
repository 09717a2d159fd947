// SPDX-License-Identifier: Apache-2.0
//
// The code of the program on processors of other nodes, from the program's side: images, symbols and kernels. As
// DeviceKind has these functions (device.hpp).
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

uint64_t load_on_node(Device* device, Module* module);
void unload_on_node(Device* device, uint64_t handle);
uint64_t find_on_node(Device* device, uint64_t handle, const char* name);
uint64_t locate_on_node(Device* device, const void* address, size_t bytes);

// The same without waiting, for kernels: the operation ends with the answer.
void start_find_on_node(Device* device, uint64_t handle, const char* name, Operation* operation);
[[nodiscard]] bool can_locate_on_nodes(const void* address);
void start_locate_on_node(Device* device, const void* address, Operation* operation);

bool launch_on_node(Device* device, const Launch& launch, Operation* operation);

}  // namespace marline::offload::device
