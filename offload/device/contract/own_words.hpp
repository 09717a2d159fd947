// SPDX-License-Identifier: Apache-2.0
//
// Additional words that follow a kernel's arguments in an array (Launch::in_memory). Arguments, and pointers in these
// words, refer to the words. The address of the array is known only when the kernel is started. Until then, patches
// follow the words and say which word refers to what. One owner at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::device {

struct OwnPatch {
  uint32_t word;     // the index of the word to write
  uint32_t to;       // the word gets the address of this word; 0: it gets address - less
  uint64_t address;  // on the device
  uint64_t less;
};

inline constexpr uint32_t kOwnPatchWords = sizeof(OwnPatch) / sizeof(uint64_t);
static_assert(sizeof(OwnPatch) % sizeof(uint64_t) == 0);

// Applies the patches to `words`, which lie at `address` when the kernel runs. False: a patch names a word at or above
// `count`.
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
