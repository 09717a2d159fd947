// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "image/elf.hpp"

#include <elf.h>

#include <cstring>

namespace marline::target {

namespace {

struct OffloadBinary {  // around each image in 16
  uint8_t magic[4];
  uint32_t version;
  uint64_t size;
  uint64_t entry_offset;
  uint64_t entry_size;
};
struct OffloadBinaryEntry {
  uint16_t image_kind;
  uint16_t offload_kind;
  uint32_t flags;
  uint64_t string_offset;
  uint64_t string_count;
  uint64_t image_offset;
  uint64_t image_size;
};
constexpr uint8_t kOffloadMagic[4] = {0x10, 0xff, 0x10, 0xad};

#ifdef __x86_64__
constexpr uint16_t kThisMachine = EM_X86_64;
#else
constexpr uint16_t kThisMachine = EM_AARCH64;
#endif

}  // namespace

Image elf_in(const WireImage& image) {
  Image found{image.begin, static_cast<size_t>(image.end - image.begin)};
  if (found.bytes >= sizeof(OffloadBinary) && std::memcmp(image.begin, kOffloadMagic, sizeof kOffloadMagic) == 0) {
    auto* header = reinterpret_cast<const OffloadBinary*>(image.begin);
    auto* entry = reinterpret_cast<const OffloadBinaryEntry*>(image.begin + header->entry_offset);
    found = {image.begin + entry->image_offset, entry->image_size};
  }
  bool is_elf = found.bytes >= sizeof(Elf64_Ehdr) && std::memcmp(found.begin, ELFMAG, SELFMAG) == 0;
  return is_elf ? found : Image{nullptr, 0};
}

bool is_native(const Image& image) {
  return image.begin != nullptr && reinterpret_cast<const Elf64_Ehdr*>(image.begin)->e_machine == kThisMachine;
}

}  // namespace marline::target
