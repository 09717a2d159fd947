// SPDX-License-Identifier: Apache-2.0
//
// Identifies modules. The identity of a module is computed once for each address at which a module is loaded, and kept.
// All are forgotten when the loader's count of closed modules changes, because another module may be at the address
// then.
#include "image/program.hpp"

#include "base/list.hpp"
#include "base/forks.hpp"
#include "base/lock.hpp"
#include "image/loader.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace marline::offload::image {

namespace {

struct Known {
  uint64_t base;
  uint64_t identity;
};

Lock g_lock;              // held for a search of the list, and once per module while its code is hashed
List<Known, 32> g_known;  // as many as loaded modules; emptied when a module is closed
uint64_t g_unloads = 0;
const HeldAcrossForks g_held(g_lock, ForkOrder::kPrograms);

// FNV-1a, by words where possible.
uint64_t hash_of(const void* data, size_t bytes, uint64_t hash) {
  constexpr uint64_t kPrime = 0x100000001b3;
  auto* at = static_cast<const unsigned char*>(data);
  for (; bytes >= sizeof(uint64_t); bytes -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    hash = (hash ^ word) * kPrime;
    hash ^= hash >> 29;
  }
  for (; bytes > 0; --bytes, ++at) hash = (hash ^ *at) * kPrime;
  return hash;
}

constexpr uint64_t kSeed = 0xcbf29ce484222325;

size_t padded(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

// The descriptor of the note NT_GNU_BUILD_ID in a segment of notes; null: there is no such note.
const char* find_build_id(const char* notes, size_t bytes, size_t& length) {
  for (const char *at = notes, *end = notes + bytes; at + sizeof(ElfW(Nhdr)) <= end;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char* name = at + sizeof note;
    const char* descriptor = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      length = note.n_descsz;
      return descriptor;
    }
    at = descriptor + padded(note.n_descsz);
  }
  return nullptr;
}

// The code does not change when it is loaded, so its bytes tell modules without a build id apart.
uint64_t identity_of(const dl_phdr_info& info) {
  uint64_t of_code = kSeed;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    auto* begin = reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr);
    size_t length;
    if (segment.p_type == PT_NOTE) {
      if (const char* id = find_build_id(begin, segment.p_memsz, length)) return hash_of(id, length, kSeed) | 1;
    }
  }
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    of_code = hash_of(reinterpret_cast<const void*>(info.dlpi_addr + segment.p_vaddr), segment.p_filesz, of_code);
  }
  return of_code | 1;
}

// Called while the loader's list is visited, so it takes no lock that other threads hold while they call the loader.
uint64_t known_identity(const dl_phdr_info& info) {
  Guard guard(g_lock);
  if (info.dlpi_subs != g_unloads) g_known.shrink(0);
  g_unloads = info.dlpi_subs;
  for (const Known& known : g_known) {
    if (known.base == info.dlpi_addr) return known.identity;
  }
  uint64_t identity = identity_of(info);
  g_known.push({info.dlpi_addr, identity});
  return identity;
}

bool contains(const dl_phdr_info& info, uint64_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && address - (info.dlpi_addr + segment.p_vaddr) < segment.p_memsz) return true;
  }
  return false;
}

struct Search {
  uint64_t address;
  ProgramPlace place;
};

int find_address(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  if (!contains(*info, search->address)) return 0;
  search->place = {known_identity(*info), search->address - info->dlpi_addr};
  return 1;
}

int find_place(dl_phdr_info* info, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  uint64_t address = info->dlpi_addr + search->place.offset;
  if (!contains(*info, address) || known_identity(*info) != search->place.module) return 0;
  search->address = address;
  return 1;
}

int take_first(dl_phdr_info* info, size_t, void* identity) {
  *static_cast<uint64_t*>(identity) = known_identity(*info);
  return 1;  // the program is the first module in the list
}

struct ProgramRange {
  uint64_t base, begin, end;
};

int take_range(dl_phdr_info* info, size_t, void* data) {
  auto* range = static_cast<ProgramRange*>(data);
  *range = {info->dlpi_addr, UINT64_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    range->begin = std::min(range->begin, begin);
    range->end = std::max(range->end, begin + segment.p_memsz);
  }
  return 1;
}

}  // namespace

namespace {

const ProgramRange& program_range() {
  static const ProgramRange range = [] {
    ProgramRange found = {};
    visit_modules(take_range, &found);
    return found;
  }();
  return range;
}

}  // namespace

uint64_t offset_in_program(const void* address) {
  const ProgramRange& range = program_range();
  auto at = reinterpret_cast<uint64_t>(address);
  return at >= range.begin && at < range.end ? at - range.base : 0;
}

const char* text_in_program(uint64_t offset) {
  const ProgramRange& range = program_range();
  uint64_t at = range.base + offset;
  if (at < range.begin || at >= range.end) return nullptr;
  auto* text = reinterpret_cast<const char*>(at);
  return strnlen(text, range.end - at) < range.end - at ? text : nullptr;
}

ProgramPlace place_of_address(const void* address) {
  Search search = {reinterpret_cast<uint64_t>(address), {0, 0}};
  visit_modules(find_address, &search);
  return search.place;
}

const void* address_of_place(const ProgramPlace& place) {
  Search search = {0, place};
  visit_modules(find_place, &search);
  return reinterpret_cast<const void*>(search.address);
}

uint64_t program_identity() {
  uint64_t identity = 0;
  visit_modules(take_first, &identity);
  return identity;
}

}  // namespace marline::offload::image
