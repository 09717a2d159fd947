// SPDX-License-Identifier: Apache-2.0
//
// Unwraps images, and reads the headers of their ELF files.
#include "image/elf.hpp"

#include <elf.h>

#include <cstring>

namespace marline::offload::image {

namespace {

struct OffloadBinary {  // Clang 16 puts it around each image
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

namespace {

bool is_inside(uint64_t begin, uint64_t bytes, const Image& all) {
  return begin <= all.bytes && bytes <= all.bytes - begin;
}

Image unwrapped(const WireImage& image, const Image& all) {
  auto* header = reinterpret_cast<const OffloadBinary*>(all.begin);
  if (!is_inside(header->entry_offset, sizeof(OffloadBinaryEntry), all)) refuse_image(image);
  auto* entry = reinterpret_cast<const OffloadBinaryEntry*>(all.begin + header->entry_offset);
  if (!is_inside(entry->image_offset, entry->image_size, all)) refuse_image(image);
  return {all.begin + entry->image_offset, entry->image_size};
}

}  // namespace

Image elf_in(const WireImage& image) {
  Image found{image.begin, static_cast<size_t>(image.end - image.begin)};
  bool is_wrapped =
      found.bytes >= sizeof(OffloadBinary) && std::memcmp(found.begin, kOffloadMagic, sizeof kOffloadMagic) == 0;
  if (is_wrapped) found = unwrapped(image, found);
  bool is_elf = found.bytes >= sizeof(Elf64_Ehdr) && std::memcmp(found.begin, ELFMAG, SELFMAG) == 0 &&
                found.begin[EI_CLASS] == ELFCLASS64;
  return is_elf ? found : Image{nullptr, 0};
}

bool is_native(const Image& image) {
  return image.begin != nullptr && reinterpret_cast<const Elf64_Ehdr*>(image.begin)->e_machine == kThisMachine;
}

bool is_amds(const Image& image) {
  constexpr uint16_t kAmds = 224;  // EM_AMDGPU
  return image.begin != nullptr && reinterpret_cast<const Elf64_Ehdr*>(image.begin)->e_machine == kAmds;
}

}  // namespace marline::offload::image
