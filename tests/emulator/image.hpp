// SPDX-License-Identifier: Apache-2.0
// Reading what a program was built with: the GPU image that libomptarget loads (a cubin) and its twin for x86-64, which
// has the functions that run as the kernels. Both are ELF files that lie in the program's memory and are never written,
// so every function here may run on any thread.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace emulator {

struct Symbol {
  std::uint64_t value;
  std::uint64_t size;
  std::uint16_t section;
  bool global;
};

// A view of an ELF file in memory, with its symbols by name.
class Elf {
 public:
  // The file must have been recognised by is_elf.
  Elf(const std::byte* file, std::uint32_t symbol_table_type);
  static bool is_elf(const std::byte* file);

  const Elf64_Ehdr& header() const { return *reinterpret_cast<const Elf64_Ehdr*>(file_); }
  std::span<const Elf64_Shdr> sections() const;
  std::span<const Elf64_Phdr> segments() const;
  std::string_view name(const Elf64_Shdr& section) const;
  const Elf64_Shdr* section(std::string_view name) const;
  std::span<const std::byte> bytes(const Elf64_Shdr& section) const;
  std::optional<Symbol> symbol(std::string_view name) const;
  const std::unordered_map<std::string, Symbol>& symbols() const { return symbols_; }

 private:
  const std::byte* file_;
  std::unordered_map<std::string, Symbol> symbols_;
};

class Cubin {
 public:
  explicit Cubin(const std::byte* file) : elf_(file, SHT_SYMTAB) {}
  static bool is_cubin(const std::byte* file);

  const Elf& elf() const { return elf_; }
  bool has_kernel(std::string_view name) const;
  // The size of each parameter of a kernel, in order.
  std::vector<std::size_t> parameter_sizes(std::string_view kernel) const;
  // What a global holds when the module is loaded; empty: zeros.
  std::span<const std::byte> initial_value(const Symbol& symbol) const;

 private:
  Elf elf_;
};

// An x86-64 image and the file size that its offload header tells.
struct HostImage {
  std::span<const std::byte> file;
  Elf elf;
};

// What stands in for PTX: libptx_twins.so beside the driver, which has a function for each kernel that comes so. It
// stays in memory; none if it cannot be read.
std::optional<HostImage> ptx_twins(const std::string& folder);
// A word for each parameter of such a kernel; none: the text has no such kernel.
std::optional<std::vector<std::size_t>> ptx_parameter_sizes(const std::string& ptx, const std::string& kernel);

// The x86-64 image in any object of this process that defines most of the cubin's symbols; none if no image has one.
// A program may mark its x86-64 images as made for no machine (hide_x86_64.py), so that libomptarget passes them over.
std::optional<HostImage> find_host_image(const Cubin& cubin);

}  // namespace emulator
