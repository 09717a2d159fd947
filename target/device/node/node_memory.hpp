// SPDX-License-Identifier: Apache-2.0
//
// In a worker: which of its addresses the program may name. The device's memory, variables that the program has asked
// about, and the code of target regions, likewise. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::target {

// Maps the device's memory; returns the descriptor of its file. Ends the process if that cannot be. Once.
int open_worker_memory(uint64_t begin, uint64_t bytes);

// Gives memory back to the system; its content is lost.
void discard_worker_memory(uint64_t address, uint64_t bytes);

// Whether all these bytes are the device's memory, or of one variable.
[[nodiscard]] bool may_access(uint64_t address, uint64_t bytes);

void allow_variable(uint64_t address, uint64_t bytes);

// `name` is copied.
void allow_code(uint64_t address, const char* name);
// The name, which stays; null: this is the code of no region.
[[nodiscard]] const char* name_of_code(uint64_t address);

// An image is gone, with all between these addresses.
void forget_addresses(uint64_t begin, uint64_t end);

}  // namespace marline::target
