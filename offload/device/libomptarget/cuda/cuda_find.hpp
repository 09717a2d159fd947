// SPDX-License-Identifier: Apache-2.0
//
// Searches a GPU's memory for words and for changes with a kernel of our own, which the driver compiles from PTX. So
// the bytes stay where they are, and only the result is transferred. Only one caller at a time, while no other kernel
// writes there: a worker process has only one caller. Each call blocks the thread.
#pragma once

#include "device/contract/byte_runs.hpp"

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

// The result is one byte for each block of this many words, counted from an aligned address; 0 if nothing is found in
// the block.
inline constexpr uint64_t kWordsInBlock = 32;

// Finds words with values from `begin` up to, but without, `end`. The caller frees `found`, which is null if no block
// has such a word. False: the driver cannot search this memory.
[[nodiscard]] bool cuda_find_words(uint64_t at, uint64_t words, uint64_t begin, uint64_t end, char*& found);
// Finds words that differ from their values when they were kept. False also if they have not been kept.
[[nodiscard]] bool cuda_find_changes(uint64_t at, uint64_t words, char*& found);

// Copies these bytes to other memory of their GPU; each `offset` is an address. Earlier copies are forgotten, even if
// `count` is 0. If there is no memory for all copies, none is kept.
void cuda_keep(const ByteRun* runs, size_t count);

}  // namespace marline::offload::device
