// SPDX-License-Identifier: Apache-2.0
//
// Writes the ELF headers of images. A header says machine and architecture. The flags for EM_CUDA are in LLVM,
// BinaryFormat/ELF.h, EF_CUDA_SM.
#include "image/stub_images.hpp"

#include "image/images.hpp"
#include "image/compiler_layout.hpp"

#include <elf.h>

#include <cstring>

namespace marline::offload::image {

namespace {

constexpr int kMost = 16;

Elf64_Ehdr g_heads[kMost];  // static, because they stay registered
WireImage g_images[kMost];
WireDescriptor g_descriptor;

void write_head(Elf64_Ehdr& head, int capability) {
  head = {};
  std::memcpy(head.e_ident, ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_ident[EI_DATA] = ELFDATA2LSB;
  head.e_ident[EI_VERSION] = EV_CURRENT;
  head.e_ident[EI_OSABI] = 51;  // NVIDIA's, up to CUDA 12
  head.e_ident[EI_ABIVERSION] = 7;
  head.e_type = ET_EXEC;
  head.e_machine = EM_CUDA;
  head.e_version = EV_CURRENT;
  head.e_flags = static_cast<Elf64_Word>(capability) | 0x500;  // 64 bits
  head.e_ehsize = sizeof head;
}

}  // namespace

void register_stub_images(const int* capabilities, int count) {
  if (count > kMost) count = kMost;
  for (int i = 0; i < count; ++i) {
    write_head(g_heads[i], capabilities[i]);
    auto* begin = reinterpret_cast<const char*>(&g_heads[i]);
    g_images[i] = {begin, begin + sizeof(Elf64_Ehdr), nullptr, nullptr};
  }
  g_descriptor = {count, g_images, nullptr, nullptr};
  if (count > 0) register_images(&g_descriptor);
}

}  // namespace marline::offload::image
