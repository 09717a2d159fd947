// SPDX-License-Identifier: Apache-2.0
//
// Reads the symbol table of an ELF file.
#include "image/statics.hpp"

#include <elf.h>

#include <cstring>

namespace marline::offload::image {

namespace {

struct Table {
  const char* begin;
  uint64_t count;
};

// The offsets in the file are not trusted: a part that is not inside the file is empty.
Table part_of(const Image& elf, uint64_t offset, uint64_t count, uint64_t each) {
  bool fits = offset <= elf.bytes && count <= (elf.bytes - offset) / each;
  return fits ? Table{elf.begin + offset, count} : Table{nullptr, 0};
}

template <class T>
T item_of(const Table& table, uint64_t index) {
  T item;
  std::memcpy(&item, table.begin + index * sizeof item, sizeof item);
  return item;
}

// Whether only the loader writes at the address, before the first kernel runs.
bool is_sealed(const Table& segments, uint64_t address) {
  for (uint64_t i = 0; i < segments.count; ++i) {
    auto segment = item_of<Elf64_Phdr>(segments, i);
    if (segment.p_type == PT_GNU_RELRO && address - segment.p_vaddr < segment.p_memsz) return true;
  }
  return false;
}

}  // namespace

void visit_variables(const Image& elf, void (*visit)(void* data, const ImageVariable& variable), void* data) {
  if (elf.bytes < sizeof(Elf64_Ehdr)) return;
  auto header = item_of<Elf64_Ehdr>({elf.begin, 1}, 0);
  Table sections = part_of(elf, header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr));
  Table segments = part_of(elf, header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr));
  for (uint64_t s = 0; s < sections.count; ++s) {
    auto section = item_of<Elf64_Shdr>(sections, s);
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.count) continue;
    auto named = item_of<Elf64_Shdr>(sections, section.sh_link);
    Table names = part_of(elf, named.sh_offset, named.sh_size, 1);
    Table symbols = part_of(elf, section.sh_offset, section.sh_size / sizeof(Elf64_Sym), sizeof(Elf64_Sym));
    if (names.count == 0 || names.begin[names.count - 1] != '\0') return;
    for (uint64_t i = 0; i < symbols.count; ++i) {
      auto symbol = item_of<Elf64_Sym>(symbols, i);
      bool is_variable = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size != 0 &&
                         symbol.st_shndx < sections.count && symbol.st_name < names.count;
      if (!is_variable || is_sealed(segments, symbol.st_value)) continue;
      constexpr uint64_t kWritten = SHF_WRITE | SHF_ALLOC;
      if ((item_of<Elf64_Shdr>(sections, symbol.st_shndx).sh_flags & kWritten) != kWritten) continue;
      visit(data, {names.begin + symbol.st_name, symbol.st_value, symbol.st_size});
    }
  }
}

}  // namespace marline::offload::image
