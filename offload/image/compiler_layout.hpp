// SPDX-License-Identifier: Apache-2.0
//
// Images as the compiler's code registers them: __tgt_bin_desc and __tgt_device_image (LLVM,
// offload/include/Shared/APITypes.h). Entries have two layouts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::image {

struct Image {
  const char* begin;
  size_t bytes;
};

struct WireImage {
  const char* begin;
  const char* end;
  const char* entries_begin;
  const char* entries_end;
};
struct WireDescriptor {
  int32_t image_count;
  const WireImage* images;
  const char* entries_begin;
  const char* entries_end;
};

struct OldEntry {  // of Clang up to 19
  void* address;
  const char* name;
  size_t size;
  int32_t flags;
  int32_t data;
};
struct NewEntry {  // from 20 on
  uint64_t reserved;
  uint16_t version;
  uint16_t kind;
  uint32_t flags;
  void* address;
  const char* name;
  uint64_t size;
  uint64_t data;
  void* auxiliary;
};
static_assert(sizeof(OldEntry) == 32 && sizeof(NewEntry) == 56);

inline constexpr uint16_t kNewestEntry = 1;

// A new entry begins with a reserved word of 0, an old one with the address of what it describes.
[[nodiscard]] bool is_new(const char* entry);

[[nodiscard]] inline size_t entry_bytes(const char* entry) {
  return is_new(entry) ? sizeof(NewEntry) : sizeof(OldEntry);
}

// Ends the program with one line if these tables cannot be read, or are of an unknown version.
void check_descriptor(const WireDescriptor& wire);
[[noreturn]] void refuse_image(const WireImage& image);

}  // namespace marline::offload::image
