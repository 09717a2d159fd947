// SPDX-License-Identifier: Apache-2.0
//
// Lets a worker write to the memory of devices of other workers on its node, by the files of this memory. The other
// workers take no part in that. Called by the thread that polls the wire.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// `number`: the device's number in the job. `neighbour`: its worker. `file`: the descriptor of its memory's file, in
// the neighbour. False: not all has been written, as the file cannot be opened or written; the caller has to use the
// wire.
[[nodiscard]] bool write_to_neighbour(int number, const Peer& neighbour, int file, uint64_t offset, const void* from,
                                      uint64_t bytes);

}  // namespace marline::offload::device
