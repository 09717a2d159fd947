// SPDX-License-Identifier: Apache-2.0
//
// The program's side of images, symbols and kernels on processors of other nodes. The functions are as DeviceKind
// describes them (device.hpp).
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

uint64_t load_on_node(Device* device, Module* module);
void unload_on_node(Device* device, uint64_t handle);
uint64_t find_on_node(Device* device, uint64_t handle, const char* name);
uint64_t locate_on_node(Device* device, const void* address, size_t bytes);

// The same for kernels, without waiting: the operation ends when the answer arrives.
void start_find_on_node(Device* device, uint64_t handle, const char* name, Operation* operation);
[[nodiscard]] bool can_locate_on_nodes(const void* address);
void start_locate_on_node(Device* device, const void* address, Operation* operation);

bool launch_on_node(Device* device, const Launch& launch, Operation* operation);

}  // namespace marline::offload::device
