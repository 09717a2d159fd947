// SPDX-License-Identifier: Apache-2.0
//
// Reads a loaded object's dynamic section. Layouts are from elf(5); the GNU hash table's layout is the one that every
// linker of the last fifteen years writes (DT_GNU_HASH).
#include "platform/elf_image.hpp"

#include <cstring>

namespace marline {
namespace {

// Relocations that store a symbol's address in memory.
#if defined(__x86_64__)
constexpr uint32_t kCallSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kDataSlot = R_X86_64_GLOB_DAT;
constexpr uint32_t kPlainAddress = R_X86_64_64;
#elif defined(__aarch64__)
constexpr uint32_t kCallSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kDataSlot = R_AARCH64_GLOB_DAT;
constexpr uint32_t kPlainAddress = R_AARCH64_ABS64;
#else
#error "elf_image.cpp: name this architecture's relocations that hold a symbol's address"
#endif

uint32_t gnu_hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

}  // namespace

bool ElfImage::read(const dl_phdr_info& info) {
  path_ = info.dlpi_name;
  base_ = info.dlpi_addr;
  headers_ = info.dlpi_phdr;
  header_count_ = info.dlpi_phnum;
  if (strncmp(path_, "linux-vdso", strlen("linux-vdso")) == 0) return false;
  for (size_t index = 0; index < header_count_; ++index) {
    if (headers_[index].p_type == PT_DYNAMIC) {
      dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(base_ + headers_[index].p_vaddr);
    }
  }
  if (dynamic_ == nullptr) return false;
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) take(*entry);
  if (strings_ == nullptr || symbols_ == nullptr) return false;
  bool has_runpath = false;
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SONAME) soname_ = strings_ + entry->d_un.d_val;
    if (entry->d_tag == DT_RPATH) rpath_ = strings_ + entry->d_un.d_val;
    has_runpath = has_runpath || entry->d_tag == DT_RUNPATH;
  }
  if (has_runpath) rpath_ = nullptr;  // the dynamic linker ignores it then
  return true;
}

// The dynamic linker has replaced some of these entries by addresses; others still have the file's value.
template <class T>
T ElfImage::at(ElfW(Addr) value) const {
  return reinterpret_cast<T>(value < base_ ? base_ + value : value);
}

void ElfImage::take(const ElfW(Dyn) & entry) {
  const ElfW(Addr) value = entry.d_un.d_ptr;
  switch (entry.d_tag) {
    case DT_STRTAB: strings_ = at<const char*>(value); break;
    case DT_SYMTAB: symbols_ = at<const ElfW(Sym)*>(value); break;
    case DT_GNU_HASH: gnu_hash_ = at<const uint32_t*>(value); break;
    case DT_HASH: plain_hash_ = at<const uint32_t*>(value); break;
    case DT_RELA: rela_ = at<const ElfW(Rela)*>(value); break;
    case DT_RELASZ: rela_bytes_ = entry.d_un.d_val; break;
    case DT_JMPREL: plt_rela_ = at<const ElfW(Rela)*>(value); break;
    case DT_PLTRELSZ: plt_rela_bytes_ = entry.d_un.d_val; break;
    default: break;
  }
}

bool ElfImage::contains(uintptr_t address) const {
  for (size_t index = 0; index < header_count_; ++index) {
    const ElfW(Phdr)& header = headers_[index];
    if (header.p_type == PT_LOAD && address - (base_ + header.p_vaddr) < header.p_memsz) return true;
  }
  return false;
}

bool ElfImage::needs_prefixed(const char* prefix) const {
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && strncmp(strings_ + entry->d_un.d_val, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

bool ElfImage::defines(const char* symbol) const {
  if (gnu_hash_ != nullptr) return gnu_hash_finds(symbol);
  return plain_hash_ != nullptr && plain_hash_finds(symbol);
}

bool ElfImage::is_definition(size_t symbol_index, const char* symbol) const {
  const ElfW(Sym)& entry = symbols_[symbol_index];
  return entry.st_shndx != SHN_UNDEF && strcmp(strings_ + entry.st_name, symbol) == 0;
}

bool ElfImage::gnu_hash_finds(const char* symbol) const {
  const uint32_t bucket_count = gnu_hash_[0];
  const uint32_t first_hashed = gnu_hash_[1];
  const uint32_t bloom_words = gnu_hash_[2];
  const uint32_t* buckets = gnu_hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
  const uint32_t* chains = buckets + bucket_count;
  if (bucket_count == 0) return false;
  const uint32_t hash = gnu_hash_of(symbol);
  uint32_t index = buckets[hash % bucket_count];
  if (index < first_hashed) return false;  // an empty bucket
  for (;; ++index) {
    const uint32_t entry = chains[index - first_hashed];
    if ((entry | 1) == (hash | 1) && is_definition(index, symbol)) return true;
    if ((entry & 1) != 0) return false;  // the last entry of the chain
  }
}

bool ElfImage::plain_hash_finds(const char* symbol) const {
  const uint32_t symbol_count = plain_hash_[1];
  for (uint32_t index = 1; index < symbol_count; ++index) {
    if (is_definition(index, symbol)) return true;
  }
  return false;
}

bool ElfImage::decode(const ElfW(Rela) & relocation, Binding* binding) const {
  const size_t index = ELF64_R_SYM(relocation.r_info);
  const uint32_t type = ELF64_R_TYPE(relocation.r_info);
  if (index == 0 || (type != kCallSlot && type != kDataSlot && type != kPlainAddress)) return false;
  const ElfW(Sym)& symbol = symbols_[index];
  binding->symbol = strings_ + symbol.st_name;
  binding->value = *reinterpret_cast<const uintptr_t*>(base_ + relocation.r_offset);
  if (type == kPlainAddress) binding->value -= static_cast<uintptr_t>(relocation.r_addend);
  binding->own = symbol.st_shndx == SHN_UNDEF ? 0 : base_ + symbol.st_value;
  return true;
}

}  // namespace marline
