// SPDX-License-Identifier: Apache-2.0
//
// Looks for words and for changes in a GPU's memory, by a kernel of our own that the driver makes of PTX: so the bytes
// stay where they are, and only what has been found goes over the bus. One caller at a time, while no other
// kernel writes there: a worker has one. Each call holds the thread.
#pragma once

#include "device/contract/byte_runs.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// What is found in each block of that many words, from an aligned address on: a byte each, 0 if there is nothing.
inline constexpr uint64_t kWordsInBlock = 32;

// `found` is the caller's to free, and null if no block has any. False: the driver cannot say it.
[[nodiscard]] bool cuda_find_words(uint64_t at, uint64_t words, uint64_t begin, uint64_t end,
                                   char*& found);  // between these
// Words that are not what they were when they were kept. Also false if they have not been.
[[nodiscard]] bool cuda_find_changes(uint64_t at, uint64_t words, char*& found);

// Copies these bytes aside on their GPU, `offset` being an address. What was kept before is forgotten, also if
// these are none; if there is no memory for the copies, all is.
void cuda_keep(const ByteRun* runs, size_t count);

}  // namespace marline::offload::device
