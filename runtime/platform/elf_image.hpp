// SPDX-License-Identifier: Apache-2.0
//
// A loaded object (the program or a library) as the dynamic linker sees it: read from its dynamic section in memory,
// never from its file. An image is a view: it is valid while the object stays loaded, which holds inside a callback of
// dl_iterate_phdr(3), where images are made. No allocation; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <link.h>

namespace marline {

// The result of one relocation of an object against a named symbol.
struct Binding {
  const char* symbol;
  // The address in the slot now; for a call that has not been made, an address in the object's own PLT.
  uintptr_t value;
  uintptr_t own;  // the object's own definition of the symbol, or 0
};

class ElfImage {
 public:
  // False: the object has no dynamic section, or must not be judged (the kernel's vDSO).
  bool read(const dl_phdr_info& info);

  const char* path() const { return path_; }      // "" for the program itself
  const char* soname() const { return soname_; }  // null if it has none
  const char* rpath() const { return rpath_; }    // the DT_RPATH in force (searched before LD_LIBRARY_PATH), or null
  bool contains(uintptr_t address) const;
  bool needs_prefixed(const char* prefix) const;  // whether it needs a library with such a name
  bool defines(const char* symbol) const;

  // Calls visit(const Binding&) -> bool for each slot that holds a symbol's address, until one call returns true.
  template <class Visit>
  bool any_binding(Visit visit) const {
    return any_binding_in(rela_, rela_bytes_, visit) || any_binding_in(plt_rela_, plt_rela_bytes_, visit);
  }

 private:
  template <class Visit>
  bool any_binding_in(const ElfW(Rela) * table, size_t bytes, Visit visit) const {
    for (size_t index = 0; index < bytes / sizeof *table; ++index) {
      Binding binding{};
      if (decode(table[index], &binding) && visit(binding)) return true;
    }
    return false;
  }
  bool decode(const ElfW(Rela) & relocation, Binding* binding) const;
  bool gnu_hash_finds(const char* symbol) const;
  bool plain_hash_finds(const char* symbol) const;
  bool is_definition(size_t symbol_index, const char* symbol) const;
  void take(const ElfW(Dyn) & entry);
  template <class T>
  T at(ElfW(Addr) value) const;

  const char* path_ = nullptr;
  uintptr_t base_ = 0;
  const ElfW(Phdr) * headers_ = nullptr;
  size_t header_count_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const char* strings_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const uint32_t* gnu_hash_ = nullptr;
  const uint32_t* plain_hash_ = nullptr;
  const ElfW(Rela) * rela_ = nullptr;
  size_t rela_bytes_ = 0;
  const ElfW(Rela) * plt_rela_ = nullptr;
  size_t plt_rela_bytes_ = 0;
  const char* soname_ = nullptr;
  const char* rpath_ = nullptr;
};

}  // namespace marline
