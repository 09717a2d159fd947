// SPDX-License-Identifier: Apache-2.0
//
// Checks the tables that the compiler's code registers.
#include "image/compiler_layout.hpp"

#include "base/report.hpp"

#include <dlfcn.h>

namespace marline::offload::image {

namespace {

[[noreturn]] void refuse(const void* descriptor, const char* what) {
  Dl_info info;
  const char* file = dladdr(descriptor, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "a library";
  fatal(
      "the offload tables of %s are not as any Clang known here (14 to 23) writes them: %s; build it again with one "
      "of these, or without -fopenmp-targets=",
      file, what);
}

// Tells a new entry from an old one whose address is null. Where the new entry has version, kind and flags, the old one
// has the address of its name. Read as these three, that address does not look valid, because programs and libraries
// are not at such low addresses.
bool has_new_layout(const NewEntry& entry) {
  constexpr uint16_t kMostKinds = 0x3f;
  constexpr uint32_t kMostFlags = 0x3f;
  bool is_kind = entry.kind != 0 && entry.kind <= kMostKinds;
  return entry.reserved == 0 && is_kind && (entry.version == kNewestEntry || entry.flags <= kMostFlags);
}

const char* wrong_with(const WireDescriptor& wire) {
  if (wire.image_count < 0) return "the number of images is negative";
  if (wire.image_count > 0 && wire.images == nullptr) return "there is no list of images";
  for (int32_t i = 0; i < wire.image_count; ++i) {
    if (wire.images[i].end < wire.images[i].begin) return "an image ends before it begins";
  }
  if (wire.entries_end < wire.entries_begin) return "the entries end before they begin";
  auto bytes = static_cast<size_t>(wire.entries_end - wire.entries_begin);
  if (bytes == 0) return nullptr;
  if (bytes < sizeof(OldEntry) || bytes % entry_bytes(wire.entries_begin) != 0) return "the last entry is cut off";
  return nullptr;
}

void check_entry(const WireDescriptor& wire, const char* entry) {
  if (!is_new(entry)) {
    auto* old = reinterpret_cast<const OldEntry*>(entry);
    if (old->address != nullptr && old->name == nullptr) refuse(&wire, "an entry has no name");
    return;
  }
  auto* of_now = reinterpret_cast<const NewEntry*>(entry);
  if (of_now->version != kNewestEntry) {
    fatal("offload entries of version %u, from a newer Clang than Marline knows; the newest known is %u (Clang 23)",
          of_now->version, kNewestEntry);
  }
  if (of_now->address != nullptr && of_now->name == nullptr) refuse(&wire, "an entry has no name");
}

}  // namespace

bool is_new(const char* entry) { return has_new_layout(*reinterpret_cast<const NewEntry*>(entry)); }

void check_descriptor(const WireDescriptor& wire) {
  if (const char* wrong = wrong_with(wire)) refuse(&wire, wrong);
  for (const char* at = wire.entries_begin; at < wire.entries_end; at += entry_bytes(at)) check_entry(wire, at);
}

void refuse_image(const WireImage& image) { refuse(image.begin, "an image's wrapping names bytes behind its end"); }

}  // namespace marline::offload::image
