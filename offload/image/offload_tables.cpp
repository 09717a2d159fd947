// SPDX-License-Identifier: Apache-2.0
//
// Reads the sections of GCC's tables. The symbols around a section are hidden, so the section is found by the module's
// file; its content is read from memory, where the loader has relocated it.
#include "image/offload_tables.hpp"

#include "image/loader.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace marline::offload::image {

namespace {

constexpr const char* kVariables = ".gnu.offload_vars";
constexpr const char* kFunctions = ".gnu.offload_funcs";
constexpr uint64_t kLinkBit = uint64_t{1} << 63;  // of WireVariable::size
// The most bytes of section headers, or of section names, that are read; larger ones are ignored.
constexpr size_t kMostBytes = 1 << 20;

struct WireVariable {
  const void* address;
  uint64_t size;
};

bool read_at(int file, void* to, size_t bytes, uint64_t offset) {
  return pread(file, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// The caller frees the block; null: the bytes cannot be read.
void* read_block(int file, size_t bytes, uint64_t offset) {
  void* block = bytes != 0 && bytes <= kMostBytes ? std::malloc(bytes) : nullptr;
  if (block != nullptr && read_at(file, block, bytes, offset)) return block;
  std::free(block);
  return nullptr;
}

// The section's address in memory, less the load address, and its size; false: there is no such section.
bool find_section(int file, const char* section, uint64_t& address, uint64_t& bytes) {
  ElfW(Ehdr) header;
  if (!read_at(file, &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_shentsize != sizeof(ElfW(Shdr)) || header.e_shstrndx >= header.e_shnum) return false;
  auto* sections = static_cast<ElfW(Shdr)*>(read_block(file, header.e_shnum * sizeof(ElfW(Shdr)), header.e_shoff));
  if (sections == nullptr) return false;
  const ElfW(Shdr)& of_names = sections[header.e_shstrndx];
  auto* names = static_cast<char*>(read_block(file, of_names.sh_size, of_names.sh_offset));
  bool found = false;
  for (int i = 0; names != nullptr && i < header.e_shnum && !found; ++i) {
    uint64_t name = sections[i].sh_name;
    found = name + std::strlen(section) < of_names.sh_size && std::strcmp(names + name, section) == 0;
    address = sections[i].sh_addr;
    bytes = sections[i].sh_size;
  }
  std::free(names);
  std::free(sections);
  return found;
}

// A module's section in memory, as a list of `Element`s; empty: there is none.
template <class Element>
struct Section {
  const Element* first = nullptr;
  size_t count = 0;

  Section(const dl_phdr_info* info, const char* name) {
    bool is_program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
    int file = open(is_program ? "/proc/self/exe" : info->dlpi_name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    uint64_t address, bytes;
    if (find_section(file, name, address, bytes)) {
      first = reinterpret_cast<const Element*>(info->dlpi_addr + address);
      count = bytes / sizeof(Element);
    }
    close(file);
  }
};

int visit_module(dl_phdr_info* info, size_t, void* data) {
  auto* list = static_cast<List<OffloadVariable, 8>*>(data);
  Section<WireVariable> section(info, kVariables);
  for (size_t i = 0; i < section.count; ++i) {
    uint64_t size = section.first[i].size;
    list->push({section.first[i].address, size & ~kLinkBit, (size & kLinkBit) != 0});
  }
  return 0;
}

int find_function(dl_phdr_info* info, size_t, void* data) {
  Section<const void*> section(info, kFunctions);
  for (size_t i = 0; i < section.count; ++i) {
    if (section.first[i] == *static_cast<const void**>(data)) return 1;
  }
  return 0;
}

int take_changes(dl_phdr_info* info, size_t, void* data) {
  *static_cast<uint64_t*>(data) = info->dlpi_adds + info->dlpi_subs;
  return 1;
}

}  // namespace

uint64_t loader_changes() {
  uint64_t changes = 0;
  visit_modules(take_changes, &changes);
  return changes;
}

void list_offload_variables(List<OffloadVariable, 8>& to) { visit_modules(visit_module, &to); }

bool is_offload_variable(const void* address, size_t bytes) {
  List<OffloadVariable, 8> variables;
  list_offload_variables(variables);
  for (const OffloadVariable& variable : variables) {
    if (variable.address == address && variable.bytes == bytes) return true;
  }
  return false;
}

bool is_offload_function(const void* address) { return visit_modules(find_function, &address) != 0; }

}  // namespace marline::offload::image
