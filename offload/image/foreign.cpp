// SPDX-License-Identifier: Apache-2.0
//
// Copies descriptors. libomptarget (19 to 22, PluginManager.cpp) reads the images of closed libraries again, and does
// not recover from a new list of entries at the address of an old one. So it gets copies of images and entries, which
// are never freed. A library that is opened again finds its image among the copies.
#include "image/foreign.hpp"

#include "base/list.hpp"
#include "base/report.hpp"
#include "image/elf.hpp"

#include <cstdlib>
#include <cstring>

namespace marline::offload::image {

namespace {

List<WireImage, 8> g_copies;  // as many as different images; each new one is compared with all

void* copy_of(const void* from, size_t bytes) {
  void* copy = std::malloc(bytes + 1);
  if (copy == nullptr) fatal("no memory for an offload image (%zu bytes)", bytes);
  return std::memcpy(copy, from, bytes);
}

WireImage keep_image(const WireImage& image) {
  auto bytes = static_cast<size_t>(image.end - image.begin);
  for (const WireImage& known : g_copies) {
    bool is_same = static_cast<size_t>(known.end - known.begin) == bytes;
    if (is_same && std::memcmp(known.begin, image.begin, bytes) == 0) return known;
  }
  auto* begin = static_cast<const char*>(copy_of(image.begin, bytes));
  WireImage kept = {begin, begin + bytes, nullptr, nullptr};
  g_copies.push(kept);
  return kept;
}

// Copies the descriptor's entries, each of which names a kernel or a variable. The name of a copied entry points to the
// registry's own copy of the text (Entry::name), which is never freed, and not into the library, which may be closed.
void keep_entries(const Module* module, WireDescriptor* descriptor) {
  const char* from = descriptor->entries_begin;
  auto bytes = static_cast<size_t>(descriptor->entries_end - from);
  auto* at = static_cast<char*>(copy_of(from, bytes));
  descriptor->entries_begin = at;
  descriptor->entries_end = at + bytes;
  for (uint32_t i = 0; i < module->count; ++i) {
    const char* name = module->entries[i].name;
    if (is_new(at)) {
      reinterpret_cast<NewEntry*>(at)->name = name;
    } else {
      reinterpret_cast<OldEntry*>(at)->name = name;
    }
    at += entry_bytes(at);
  }
}

}  // namespace

void* foreign_descriptor(Module* module) {
  Guard guard(images_lock());
  if (module->gone.load(std::memory_order_relaxed) || !module->has_foreign) return nullptr;
  auto* from = static_cast<const WireDescriptor*>(module->descriptor);
  auto* copy = static_cast<WireDescriptor*>(copy_of(from, sizeof *from));
  auto* images =
      static_cast<WireImage*>(copy_of(from->images, static_cast<size_t>(from->image_count) * sizeof(WireImage)));
  if (!module->is_program && module->count != 0) keep_entries(module, copy);
  copy->images = images;
  copy->image_count = 0;
  for (int32_t i = 0; i < from->image_count; ++i) {
    if (is_native(elf_in(from->images[i]))) continue;
    WireImage& image = images[copy->image_count++];
    image = module->is_program ? from->images[i] : keep_image(from->images[i]);
    image.entries_begin = copy->entries_begin;
    image.entries_end = copy->entries_end;
  }
  module->foreign = copy;
  return copy;
}

}  // namespace marline::offload::image
