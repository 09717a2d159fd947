// SPDX-License-Identifier: Apache-2.0
//
// In a worker: the memory of the devices of other workers of its node, which it writes by their files. Those workers
// take no part in that. By the thread that polls the wire.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// `number`: of the device, in the job. `file`: the descriptor of its memory's file in the neighbour, its worker. False:
// not all has been written, as the file cannot be reached, or written; try the wire.
[[nodiscard]] bool write_to_neighbour(int number, const Peer& neighbour, int file, uint64_t offset, const void* from,
                                      uint64_t bytes);

}  // namespace marline::offload::device
