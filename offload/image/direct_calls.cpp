// SPDX-License-Identifier: Apache-2.0
//
// Reads machine code. The length of a function is in .eh_frame, which .eh_frame_hdr indexes by the function's address
// (Linux Standard Base, section 10.6; encodings: DWARF Exception Header Encoding). A call to another module goes to a
// stub in the procedure linkage table, which jumps by a slot of the global offset table, or goes by that slot itself.
// The module's relocations name the function of each slot. An instruction may begin at every byte (x86-64) or word:
// bytes inside another instruction do not look like a call to such a stub by chance.
#include "image/direct_calls.hpp"

#include "base/list.hpp"
#include "image/loader.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace marline::offload::image {

namespace {

struct Range {
  uintptr_t begin = 0, end = 0;

  [[nodiscard]] bool has(uintptr_t at, size_t bytes) const { return at >= begin && at <= end && end - at >= bytes; }
};

struct ModuleCode {
  uintptr_t address;  // address of the function, set by the caller; the other members are found
  uintptr_t base = 0;
  Range code{};          // the segment that contains the function
  uintptr_t frames = 0;  // .eh_frame_hdr
  const ElfW(Dyn) * dynamic = nullptr;
  Range variables{};  // from the first to the last byte that may change, or may have been relocated
};

int note_module(dl_phdr_info* info, size_t, void* data) {
  auto* module = static_cast<ModuleCode*>(data);
  ModuleCode found = {module->address};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    Range range = {begin, begin + header.p_memsz};
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X) != 0 && range.has(module->address, 1)) found.code = range;
    if (header.p_type == PT_LOAD && (header.p_flags & PF_W) != 0) {
      if (found.variables.end == 0) found.variables.begin = begin;
      found.variables.end = range.end;
    }
    if (header.p_type == PT_GNU_EH_FRAME) found.frames = begin;
    if (header.p_type == PT_DYNAMIC) found.dynamic = reinterpret_cast<const ElfW(Dyn)*>(begin);
  }
  if (found.code.end == 0) return 0;
  found.base = info->dlpi_addr;
  *module = found;
  return 1;
}

template <class T>
T read(uintptr_t at) {
  T value;
  std::memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
  return value;
}

// Encodings of pointers: the low four bits are the format.
constexpr uint8_t kPcRelative4 = 0x1b, kUnsigned4 = 0x03, kTableRelative4 = 0x3b;

// Returns 0 for an encoding that compilers do not use.
size_t bytes_of(uint8_t encoding) {
  switch (encoding & 0x0f) {
    case 0x03:
    case 0x0b: return 4;
    case 0x00:
    case 0x04:
    case 0x0c: return 8;
    default: return 0;
  }
}

uint64_t read_leb(uintptr_t& at) {
  uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    auto byte = read<uint8_t>(at++);
    if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
    if ((byte & 0x80) == 0) return value;
  }
}

// How the addresses of a frame description are encoded, by the entry at `common` that it shares with other descriptions
// (DWARF's CIE). 0xff: not known.
uint8_t encoding_in(uintptr_t common) {
  uintptr_t at = common + 8;  // length, id
  auto version = read<uint8_t>(at++);
  const char* letters = reinterpret_cast<const char*>(at);
  if (*letters != 'z') return *letters == '\0' ? 0x00 : 0xff;
  at += std::strlen(letters) + 1;
  (void)read_leb(at);  // alignment of code, of data
  (void)read_leb(at);
  if (version == 1) {
    ++at;
  } else {
    (void)read_leb(at);
  }
  (void)read_leb(at);
  for (++letters; *letters != '\0'; ++letters) {
    if (*letters == 'R') return read<uint8_t>(at);
    if (*letters == 'L') ++at;
    if (*letters == 'P') at += 1 + bytes_of(read<uint8_t>(at));
  }
  return 0x00;
}

// The length of the function, from its frame description; 0: it cannot be read.
size_t length_in(uintptr_t description) {
  uintptr_t common = description + 4 - read<uint32_t>(description + 4);
  uint8_t encoding = encoding_in(common);
  size_t bytes = encoding == 0xff ? 0 : bytes_of(encoding);
  uintptr_t at = description + 8 + bytes;
  return bytes == 4 ? read<uint32_t>(at) : bytes == 8 ? read<uint64_t>(at) : 0;
}

// The code of the function; empty: its end is not known.
Range extent_of(const ModuleCode& module) {
  uintptr_t header = module.frames;
  if (header == 0 || read<uint8_t>(header) != 1 || read<uint8_t>(header + 1) != kPcRelative4 ||
      read<uint8_t>(header + 2) != kUnsigned4 || read<uint8_t>(header + 3) != kTableRelative4) {
    return {};
  }
  uintptr_t table = header + 12;
  uint32_t low = 0, high = read<uint32_t>(header + 8);  // the index of the entry that is sought is from low to high - 1
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    uintptr_t function = header + static_cast<intptr_t>(read<int32_t>(table + middle * 8));
    if (function == module.address) {
      size_t length = length_in(header + static_cast<intptr_t>(read<int32_t>(table + middle * 8 + 4)));
      return module.code.has(function, length) ? Range{function, function + length} : Range{};
    }
    function < module.address ? low = middle + 1 : high = middle;
  }
  return {};
}

#if defined(__x86_64__)
constexpr unsigned kSlotTypes[] = {R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT};
#else
constexpr unsigned kSlotTypes[] = {R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT};
#endif

using Addresses = List<uintptr_t, 32>;
using Slots = Addresses;

struct Imports {
  const ModuleCode& module;
  const Range& provider;  // empty: any module
  const ElfW(Sym) * symbols;
  const char* names;
  const char* prefix;
};

// Whether the slot leads to the provider. A slot that the loader has not filled yet leads back into the module; such a
// slot counts, too.
bool counts(const Imports& imports, uintptr_t slot) {
  if (imports.provider.end == 0) return true;
  auto function = read<uintptr_t>(slot);
  return imports.provider.has(function, 1) || imports.module.code.has(function, 1);
}

void add_slots(const Imports& imports, const ElfW(Rela) * relocations, size_t count, Slots& slots) {
  for (size_t i = 0; i < count; ++i) {
    auto type = static_cast<unsigned>(ELF64_R_TYPE(relocations[i].r_info));
    if (type != kSlotTypes[0] && type != kSlotTypes[1]) continue;
    const char* name = imports.names + imports.symbols[ELF64_R_SYM(relocations[i].r_info)].st_name;
    if (std::strncmp(name, imports.prefix, std::strlen(imports.prefix)) != 0) continue;
    uintptr_t slot = imports.module.base + relocations[i].r_offset;
    if (counts(imports, slot)) slots.push(slot);
  }
}

// Finds the slots of the provider's functions with names that begin with `prefix`.
void find_slots(const ModuleCode& module, const char* prefix, const Range& provider, Slots& slots) {
  uintptr_t found[DT_NUM] = {};
  for (const ElfW(Dyn)* entry = module.dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag >= 0 && entry->d_tag < DT_NUM) found[entry->d_tag] = entry->d_un.d_val;
  }
  // The loader has already turned most of these values into addresses.
  auto address = [&](int tag) { return found[tag] < module.base ? module.base + found[tag] : found[tag]; };
  if (found[DT_SYMTAB] == 0 || found[DT_STRTAB] == 0) return;
  Imports imports = {module, provider, reinterpret_cast<const ElfW(Sym)*>(address(DT_SYMTAB)),
                     reinterpret_cast<const char*>(address(DT_STRTAB)), prefix};
  if (found[DT_RELA] != 0) {
    add_slots(imports, reinterpret_cast<const ElfW(Rela)*>(address(DT_RELA)), found[DT_RELASZ] / sizeof(ElfW(Rela)),
              slots);
  }
  if (found[DT_JMPREL] != 0) {
    add_slots(imports, reinterpret_cast<const ElfW(Rela)*>(address(DT_JMPREL)), found[DT_PLTRELSZ] / sizeof(ElfW(Rela)),
              slots);
  }
}

bool is_among(uintptr_t address, Addresses& addresses) {
  for (uintptr_t one : addresses) {
    if (one == address) return true;
  }
  return false;
}

#if defined(__x86_64__)

// Whether a stub is at `at`: a jump by one of the slots. The marks of indirect branch tracking and of bounds checks may
// come before the jump.
bool is_stub(const ModuleCode& module, uintptr_t at, Slots& slots) {
  if (!module.code.has(at, 16)) return false;
  if (read<uint32_t>(at) == 0xfa1e0ff3) at += 4;
  if (read<uint8_t>(at) == 0xf2) ++at;
  return read<uint16_t>(at) == 0x25ff && is_among(at + 6 + static_cast<intptr_t>(read<int32_t>(at + 2)), slots);
}

bool has_call(const ModuleCode& module, const Range& range, Slots& slots) {
  for (uintptr_t at = range.begin; range.has(at, 5); ++at) {
    auto byte = read<uint8_t>(at);
    if (byte == 0xe8 || byte == 0xe9) {  // call, jmp
      if (is_stub(module, at + 5 + static_cast<intptr_t>(read<int32_t>(at + 1)), slots)) return true;
    } else if (byte == 0xff && range.has(at, 6)) {
      auto next = read<uint8_t>(at + 1);
      bool by_slot = next == 0x15 || next == 0x25;  // call, jmp
      if (by_slot && is_among(at + 6 + static_cast<intptr_t>(read<int32_t>(at + 2)), slots)) return true;
    }
  }
  return false;
}

#else

// The slot that the two instructions adrp and ldr read; 0: the instructions are others.
uintptr_t slot_at(uintptr_t at) {
  auto page = read<uint32_t>(at), load = read<uint32_t>(at + 4);
  if ((page & 0x9f000000) != 0x90000000 || (load & 0xffc00000) != 0xf9400000) return 0;
  int64_t pages = static_cast<int64_t>(uint64_t{((page >> 5 & 0x7ffff) << 2) | (page >> 29 & 3)} << 43) >> 43;
  return (at & ~uintptr_t{0xfff}) + static_cast<uintptr_t>(pages * 4096) + (load >> 10 & 0xfff) * 8;
}

// A stub is adrp, ldr, add, br. All four are needed: a function may begin with the first two, too.
bool is_stub(const ModuleCode& module, uintptr_t at, Slots& slots) {
  if (!module.code.has(at, 20)) return false;
  if (read<uint32_t>(at) == 0xd503245f) at += 4;                                 // bti c
  return read<uint32_t>(at + 12) == 0xd61f0220 && is_among(slot_at(at), slots);  // br x17
}

bool has_call(const ModuleCode& module, const Range& range, Slots& slots) {
  for (uintptr_t at = range.begin; range.has(at, 4); at += 4) {
    auto word = read<uint32_t>(at);
    if ((word & 0x7c000000) == 0x14000000) {  // b, bl
      int64_t words = static_cast<int64_t>(uint64_t{word & 0x3ffffff} << 38) >> 38;
      if (is_stub(module, at + static_cast<uintptr_t>(words * 4), slots)) return true;
    } else if (range.has(at, 8) && is_among(slot_at(at), slots)) {
      return true;
    }
  }
  return false;
}

#endif

using Callees = Addresses;  // for stands_alone: the functions that a function calls

Range extent_at(const ModuleCode& module, uintptr_t function) {
  ModuleCode other = module;
  other.address = function;
  return module.code.has(function, 1) ? extent_of(other) : Range{};
}

// Adds the function at `target` to the callees. Returns false if the code there is no known function, but, for example,
// a stub for a function of another module.
bool note_callee(const ModuleCode& module, const Range& caller, uintptr_t target, Callees& callees) {
  if (!module.code.has(target, 1) || caller.has(target, 1)) return true;
  Range callee = extent_at(module, target);
  if (callee.begin == callee.end) return false;
  callees.push(target);
  return true;
}

#if defined(__x86_64__)

// Whether the byte at `at` is the prefix for thread-local variables, followed by a byte that can follow it in an
// instruction that reads or writes memory.
bool uses_thread(uintptr_t at) {
  if (read<uint8_t>(at) != 0x64) return false;
  auto next = read<uint8_t>(at + 1);
  bool is_prefix = (next & 0xf0) == 0x40 || next == 0x66 || next == 0xf2 || next == 0xf3 || next == 0x0f;
  return is_prefix || (next & 0xc4) == 0 || (next & 0xf0) == 0x80 || next == 0xc6 || next == 0xc7 || next == 0xff;
}

// Handles a short jump to another function, which may be the last instruction. If no function begins at the target, the
// bytes are inside of another instruction, unless they are the last ones. Compilers make conditional jumps to functions
// only to save size, so only a short function is searched for them: in a long one, bytes that look like such a jump are
// too frequent.
bool note_short_jump(const ModuleCode& module, const Range& range, uintptr_t at, Callees& callees) {
  constexpr uintptr_t kShort = 64;
  auto byte = read<uint8_t>(at);
  bool is_conditional = (byte & 0xf0) == 0x70 && range.end - range.begin <= kShort;
  if ((byte != 0xeb && !is_conditional) || !range.has(at, 2)) return true;
  uintptr_t target = at + 2 + static_cast<intptr_t>(read<int8_t>(at + 1));
  bool is_last = byte == 0xeb && at + 2 == range.end;
  if (!is_last && extent_at(module, target).end == 0) return true;
  return note_callee(module, range, target, callees);
}

// Displacements are relative to the end of the instruction; up to four bytes of a constant may follow the displacement.
bool is_alone_at(const ModuleCode& module, const Range& range, uintptr_t at, Callees& callees) {
  if (range.has(at, 2) && uses_thread(at)) return false;
  if (!note_short_jump(module, range, at, callees)) return false;
  if (range.has(at, 8) && module.variables.has(read<uint64_t>(at), 1)) return false;
  if (!range.has(at, 4)) return true;
  if (module.variables.has(read<uint32_t>(at), 1)) return false;
  constexpr uintptr_t kConstants[] = {0, 1, 2, 4};
  for (uintptr_t constant : kConstants) {
    uintptr_t target = at + 4 + constant + static_cast<intptr_t>(read<int32_t>(at));
    if (module.variables.has(target, 1)) return false;
  }
  // The address of a function is taken: by lea, or as a number if the program has fixed addresses.
  uintptr_t target = at + 4 + static_cast<intptr_t>(read<int32_t>(at));
  bool is_taken = at >= range.begin + 2 && read<uint8_t>(at - 2) == 0x8d && (read<uint8_t>(at - 1) & 0xc7) == 0x05;
  if (is_taken && extent_at(module, target).end != 0 && !note_callee(module, range, target, callees)) return false;
  if (extent_at(module, read<uint32_t>(at)).end != 0) callees.push(read<uint32_t>(at));
  auto byte = at != range.begin ? read<uint8_t>(at - 1) : 0;
  bool is_call = byte == 0xe8 || byte == 0xe9;
  return !is_call || note_callee(module, range, target, callees);
}

constexpr uintptr_t kStep = 1;

#else

// Called for an `adrp` that makes the address of a page (4 KiB) of the module's code. Whether the next instruction
// completes the address in a known way: it adds the offset of a function or of a constant in the page, or it loads a
// constant from the page. A function counts as a callee. False: the page's address may be used in another way, or there
// are too many callees.
bool is_known_in_code(const ModuleCode& module, const Range& range, uintptr_t at, uintptr_t page, Callees& callees) {
  auto next = range.has(at, 8) ? read<uint32_t>(at + 4) : 0;
  bool is_load = (next & 0x3b400000) == 0x39400000, is_sum = (next & 0xffc00000) == 0x91000000;
  if (!is_sum) return is_load;
  uintptr_t target = page + (next >> 10 & 0xfff);
  return extent_at(module, target).end == 0 || note_callee(module, range, target, callees);
}

// Checks the instructions that make an address: that of a page (adrp), or one relative to the instruction itself (adr,
// b, bl). One page may have variables and constants, so a page with variables is refused.
bool is_alone_at(const ModuleCode& module, const Range& range, uintptr_t at, Callees& callees) {
  if (!range.has(at, 4)) return true;
  auto word = read<uint32_t>(at);
  if ((word & 0xffffffe0) == 0xd53bd040) return false;  // mrs, tpidr_el0
  int64_t distance = static_cast<int64_t>(uint64_t{((word >> 5 & 0x7ffff) << 2) | (word >> 29 & 3)} << 43) >> 43;
  if ((word & 0x9f000000) == 0x90000000) {  // adrp
    uintptr_t page = (at & ~uintptr_t{0xfff}) + static_cast<uintptr_t>(distance * 4096);
    if (page + 4096 > module.variables.begin && page < module.variables.end) return false;
    if (page + 4096 > module.code.begin && page < module.code.end)
      return is_known_in_code(module, range, at, page, callees);
  } else if ((word & 0x9f000000) == 0x10000000) {  // adr
    uintptr_t target = at + static_cast<uintptr_t>(distance);
    if (module.variables.has(target, 1) || !note_callee(module, range, target, callees)) return false;
  }
  if ((word & 0x7c000000) != 0x14000000) return true;  // b, bl
  int64_t words = static_cast<int64_t>(uint64_t{word & 0x3ffffff} << 38) >> 38;
  return note_callee(module, range, at + static_cast<uintptr_t>(words * 4), callees);
}

constexpr uintptr_t kStep = 4;

#endif

}  // namespace

bool stands_alone(const void* function) {
  constexpr uint32_t kMost = 16;
  ModuleCode module = {reinterpret_cast<uintptr_t>(function)};
  if (visit_modules(note_module, &module) == 0) return false;
  Callees open, seen;
  open.push(module.address);
  while (open.count() != 0) {
    uintptr_t next = open[open.count() - 1];
    open.shrink(open.count() - 1);
    if (is_among(next, seen)) continue;
    Range range = extent_at(module, next);
    if (range.begin == range.end || seen.count() == kMost) return false;
    seen.push(next);
    for (uintptr_t at = range.begin; at < range.end; at += kStep) {
      if (!is_alone_at(module, range, at, open)) return false;
    }
  }
  return true;
}

bool calls_directly(const void* function, const char* prefix, const void* provider) {
  ModuleCode module = {reinterpret_cast<uintptr_t>(function)};
  if (visit_modules(note_module, &module) == 0) return false;
  Range range = extent_of(module);
  if (range.begin == range.end) return false;
  ModuleCode other = {reinterpret_cast<uintptr_t>(provider)};
  if (provider != nullptr && visit_modules(note_module, &other) == 0) return false;
  Slots slots;
  find_slots(module, prefix, other.code, slots);
  return slots.count() != 0 && has_call(module, range, slots);
}

}  // namespace marline::offload::image
