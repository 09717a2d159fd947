// SPDX-License-Identifier: Apache-2.0
//
// Lists the blocks of device memory that the program itself has allocated, so that a wrong free is reported as a
// specific error. Any thread may call these functions.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

void note_users_block(Device* device, uint64_t address, size_t bytes);

// An association (omp_target_associate_ptr) of memory at the address begins or ends. The block with the address cannot
// be freed meanwhile. Addresses outside of all blocks are not counted, because the program cannot free that memory.
void count_association(Device* device, uint64_t address);
void discount_association(Device* device, uint64_t address);

enum class Forgotten : uint8_t {
  kYes,
  kNoBlock,     // no block begins at the address
  kAssociated,  // the block has associations, so it stays in the list
};
[[nodiscard]] Forgotten forget_users_block(Device* device, uint64_t address);

}  // namespace marline::offload::device
