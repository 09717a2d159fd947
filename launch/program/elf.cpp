// SPDX-License-Identifier: Apache-2.0
//
// The structures of elf.h are copied out of the file's bytes: nothing in a damaged file need be aligned.
#include "program/elf.hpp"

#include <cstring>
#include <elf.h>
#include <vector>

#include "base/file.hpp"

namespace marline::launch {
namespace {

// Compiled code calls its OpenMP runtime by these names: GCC's GOMP_*, LLVM's __kmpc_*, the API's omp_* (some are
// called ompc_* in LLVM's omp.h), and LLVM's further routines. The code of Clang's target regions calls __tgt_*.
constexpr std::string_view kEntryPoints[] = {"GOMP_", "__kmpc_",  "__tgt_",   "omp_",
                                             "ompc_", "kmp_set_", "kmp_get_", "kmpc_"};
// What code for devices calls. Without -fopenmp-targets, Clang's target regions are code of the host, and call nothing.
constexpr std::string_view kDeviceCalls[] = {"GOMP_target", "__tgt_target", "omp_target_"};
// An object that defines one of these is an OpenMP runtime: every parallel region starts there.
constexpr std::string_view kRuntimeMarks[] = {"GOMP_parallel", "__kmpc_fork_call"};
// Texts of the environment variables that libgomp and libomp read: both of a pair occur only where the runtime itself
// is inside.
constexpr std::string_view kRuntimeTexts[][2] = {{"GOMP_SPINCOUNT", "OMP_WAIT_POLICY"},
                                                 {"KMP_BLOCKTIME", "KMP_LIBRARY"}};

struct OutOfFile {};

template <size_t N>
bool begins_with_one_of(std::string_view text, const std::string_view (&prefixes)[N]) {
  for (std::string_view prefix : prefixes) {
    if (text.starts_with(prefix)) return true;
  }
  return false;
}

class Reader {
 public:
  Reader(Elf& elf, std::string_view bytes) : elf_(elf), bytes_(bytes) {}
  void read();

 private:
  template <class T>
  T at(uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) throw OutOfFile{};
    T value;
    memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  // The text at `offset` up to its NUL.
  std::string_view text(uint64_t offset) const {
    if (offset > bytes_.size()) throw OutOfFile{};
    const size_t end = bytes_.find('\0', offset);
    if (end == std::string_view::npos) throw OutOfFile{};
    return bytes_.substr(offset, end - offset);
  }
  void read_dynamic(const Elf64_Phdr& dynamic);
  uint64_t file_offset(uint64_t address) const;
  void read_symbols(const Elf64_Shdr& table, uint64_t strings);
  void note_symbol(std::string_view name, bool is_defined);

  Elf& elf_;
  std::string_view bytes_;
  std::vector<Elf64_Phdr> segments_;
};

void Reader::read() {
  const auto header = at<Elf64_Ehdr>(0);
  elf_.machine = header.e_machine == EM_X86_64    ? "x86_64"
                 : header.e_machine == EM_AARCH64 ? "aarch64"
                                                  : "machine " + std::to_string(header.e_machine);
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    segments_.push_back(at<Elf64_Phdr>(header.e_phoff + i * header.e_phentsize));
  }
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_INTERP) elf_.interpreter = text(segment.p_offset);
    if (segment.p_type == PT_DYNAMIC) read_dynamic(segment);
  }
  std::vector<Elf64_Shdr> sections;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    sections.push_back(at<Elf64_Shdr>(header.e_shoff + i * header.e_shentsize));
  }
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (section.sh_link >= sections.size()) throw OutOfFile{};
    read_symbols(section, sections[section.sh_link].sh_offset);
  }
}

void Reader::read_dynamic(const Elf64_Phdr& dynamic) {
  uint64_t strings = 0, name = 0;
  bool has_strings = false, has_name = false;
  for (uint64_t at_byte = 0; at_byte + sizeof(Elf64_Dyn) <= dynamic.p_filesz; at_byte += sizeof(Elf64_Dyn)) {
    const auto entry = at<Elf64_Dyn>(dynamic.p_offset + at_byte);
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_val, has_strings = true;
    if (entry.d_tag == DT_SONAME) name = entry.d_un.d_val, has_name = true;
  }
  if (has_strings && has_name) elf_.soname = text(file_offset(strings) + name);
}

uint64_t Reader::file_offset(uint64_t address) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  throw OutOfFile{};
}

void Reader::read_symbols(const Elf64_Shdr& table, uint64_t strings) {
  for (uint64_t at_byte = 0; at_byte + sizeof(Elf64_Sym) <= table.sh_size; at_byte += sizeof(Elf64_Sym)) {
    const auto symbol = at<Elf64_Sym>(table.sh_offset + at_byte);
    const uint64_t start = strings + symbol.st_name;
    if (start >= bytes_.size()) throw OutOfFile{};
    // Most of the 10^4 symbols of a program and its libraries begin otherwise.
    if (std::string_view("G_ok").find(bytes_[start]) == std::string_view::npos) continue;
    if (begins_with_one_of(bytes_.substr(start), kEntryPoints)) note_symbol(text(start), symbol.st_shndx != SHN_UNDEF);
  }
}

void Reader::note_symbol(std::string_view name, bool is_defined) {
  elf_.has_entry_points = true;
  if (!is_defined) {
    elf_.uses_openmp = true;
    if (begins_with_one_of(name, kDeviceCalls)) elf_.uses_devices = true;
    return;
  }
  const std::string_view bare = name.substr(0, name.find('@'));
  for (std::string_view mark : kRuntimeMarks) {
    if (bare == mark && (elf_.runtime_entry.empty() || mark < elf_.runtime_entry)) elf_.runtime_entry = mark;
  }
}

}  // namespace

Elf read_elf(const std::string& path, std::string_view bytes) {
  if (bytes.empty()) throw NotElf{path + " is empty"};
  if (!bytes.starts_with(ELFMAG)) throw NotElf{path + " is not an ELF file"};
  if (bytes.substr(4, 2) != "\x02\x01") throw NotElf{path + " is not a 64-bit little-endian ELF file"};
  Elf elf;
  elf.path = path;
  try {
    Reader(elf, bytes).read();
  } catch (OutOfFile) {
    throw NotElf{path + " is a damaged ELF file: it ends before all that its header tells of; copy or build it again",
                 true};
  }
  return elf;
}

Elf read_elf(const std::string& path) {
  const Mapping file(path);
  return read_elf(path, file.bytes());
}

bool has_texts_of_runtime(const std::string& path) {
  const Mapping file(path);
  for (const auto& [one, other] : kRuntimeTexts) {
    if (file.bytes().find(one) != std::string_view::npos && file.bytes().find(other) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace marline::launch
