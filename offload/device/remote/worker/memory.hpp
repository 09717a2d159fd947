// SPDX-License-Identifier: Apache-2.0
//
// In a worker: which of its addresses the program may name. Its devices' memory, variables that the program has asked
// about, and the code of target regions, likewise. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// Maps a device's memory, on the pages of a NUMA domain as far as there are (-1: any); returns the descriptor of its
// file. Ends the process if that cannot be. Once for each device, at most kMostWorkerDevices, by the thread that polls,
// as all that asks whether addresses of such memory may be accessed.
int open_worker_memory(uint64_t begin, uint64_t bytes, int domain);

// Gives memory back to the system; its content is lost.
void discard_worker_memory(uint64_t address, uint64_t bytes);

// Whether all these bytes are one device's memory, or of one variable.
[[nodiscard]] bool may_access(uint64_t address, uint64_t bytes);

void allow_variable(uint64_t address, uint64_t bytes);

// `name` is copied.
void allow_code(uint64_t address, const char* name);
// The name, which stays; null: this is the code of no region.
[[nodiscard]] const char* name_of_code(uint64_t address);

// An image is gone, with all between these addresses.
void forget_addresses(uint64_t begin, uint64_t end);

}  // namespace marline::offload::device
