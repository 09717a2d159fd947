// SPDX-License-Identifier: Apache-2.0
//
// The blocks of a device's memory that the program itself has asked for, so that a wrong free is an error with a name.
// Any thread.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

void note_users_block(Device* device, uint64_t address, size_t bytes);

// An association (omp_target_associate_ptr) of memory at the address begins or ends. Its block cannot be freed
// meanwhile. Addresses outside of all blocks are not counted: that memory is not the program's to free.
void count_association(Device* device, uint64_t address);
void discount_association(Device* device, uint64_t address);

enum class Forgotten : uint8_t {
  kYes,
  kNoBlock,     // none begins there
  kAssociated,  // nothing has been done
};
[[nodiscard]] Forgotten forget_users_block(Device* device, uint64_t address);

}  // namespace marline::offload::device
