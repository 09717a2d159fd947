// SPDX-License-Identifier: Apache-2.0
//
// Memory that a kernel gets with its arguments, for kernels whose arguments lie in an array (Launch::in_memory): words
// behind them, to which arguments and pointers in these words refer. Where the array lies is known when the kernel is
// started; until then patches stand behind the words and say what refers to what. One owner at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

struct OwnPatch {
  uint32_t word;     // that is to be written
  uint32_t to;       // it gets the address of this word; 0: it gets address - less
  uint64_t address;  // on the device
  uint64_t less;
};

inline constexpr uint32_t kOwnPatchWords = sizeof(OwnPatch) / sizeof(uint64_t);
static_assert(sizeof(OwnPatch) % sizeof(uint64_t) == 0);

// `words`, which lie at `address` when the kernel runs. False: one does not lie among the `count` words.
[[nodiscard]] inline bool patch_words(uint64_t* words, size_t count, uint64_t address, const OwnPatch* patches,
                                      size_t patch_count) {
  for (size_t i = 0; i < patch_count; ++i) {
    const OwnPatch& patch = patches[i];
    if (patch.word >= count || patch.to >= count) return false;
    words[patch.word] = patch.to != 0 ? address + patch.to * sizeof(uint64_t) : patch.address - patch.less;
  }
  return true;
}

}  // namespace marline::offload::device
