// SPDX-License-Identifier: Apache-2.0
//
// Knows which addresses of a worker the program may name: the memory of the worker's devices, and the variables and the
// target regions' code that the program has asked for. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// Maps a device's memory and returns the descriptor of its file. The memory's pages come from the NUMA domain as long
// as it has some (-1: any domain). Ends the process if that fails. Called once for each device, at most
// kMostWorkerDevices times, by the thread that polls. That thread also makes all calls of may_access for such memory.
int open_worker_memory(uint64_t begin, uint64_t bytes, int domain);

// Returns memory to the system; its content is lost.
void discard_worker_memory(uint64_t address, uint64_t bytes);

// Whether all these bytes lie in one device's memory, or in one variable.
[[nodiscard]] bool may_access(uint64_t address, uint64_t bytes);

void allow_variable(uint64_t address, uint64_t bytes);

// `name` is copied.
void allow_code(uint64_t address, const char* name);
// The region's name, which stays valid. Null: no region has its code there.
[[nodiscard]] const char* name_of_code(uint64_t address);

// Forgets all variables and code between these addresses, as their image is gone.
void forget_addresses(uint64_t begin, uint64_t end);

}  // namespace marline::offload::device
