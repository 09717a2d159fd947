// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_PORTABLE only: what the C++ library that is linked into bin/marline takes from glibc, and glibc 2.28 does not
// have yet. This process has one thread and loads no library later.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>
#include <unistd.h>

namespace {

struct Search {
  uintptr_t address;
  dl_find_object* found;
};

int look_in(dl_phdr_info* info, size_t, void* argument) {
  const Search& search = *static_cast<Search*>(argument);
  const auto at = [&](const ElfW(Phdr) & segment) { return info->dlpi_addr + segment.p_vaddr; };
  bool holds = false;
  void* frames = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_GNU_EH_FRAME) frames = reinterpret_cast<void*>(at(segment));
    if (segment.p_type != PT_LOAD || search.address < at(segment)) continue;
    if (search.address - at(segment) >= segment.p_memsz) continue;
    holds = true;
    search.found->dlfo_map_start = reinterpret_cast<void*>(at(segment));
    search.found->dlfo_map_end = reinterpret_cast<void*>(at(segment) + segment.p_memsz);
  }
  search.found->dlfo_eh_frame = frames;
  return holds && frames != nullptr ? 1 : 0;
}

}  // namespace

extern "C" {

char __libc_single_threaded = 1;

// Where the unwinder finds the frames of the code at `address`: 0, or -1 if there is no such code.
int _dl_find_object(void* address, dl_find_object* found) noexcept {
  *found = {};
  Search search{reinterpret_cast<uintptr_t>(address), found};
  return dl_iterate_phdr(look_in, &search) == 1 ? 0 : -1;
}

uint32_t arc4random() noexcept {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number)) _exit(125);
  return number;
}

}  // extern "C"
