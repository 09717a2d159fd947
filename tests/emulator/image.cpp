// SPDX-License-Identifier: Apache-2.0
// Reads cubins and finds x86-64 images. A fat binary is a series of offload binaries of LLVM, each aligned to 8 bytes
// in a read-only segment; they are found by their magic number, so that the executable's file and its section headers
// are not needed. Read only; any thread.
#include "image.hpp"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace emulator {
namespace {

constexpr std::uint16_t kCudaMachine = 190;

// LLVM's offload binary, version 1: a header, and an entry that tells where the image lies.
struct OffloadHeader {
  std::uint32_t magic, version;
  std::uint64_t size, entry_offset, entry_size;
};
struct OffloadEntry {
  std::uint16_t image_kind, offload_kind;
  std::uint32_t flags;
  std::uint64_t string_offset, string_count, image_offset, image_size;
};
constexpr std::uint32_t kOffloadMagic = 0xad10ff10;

// Attributes of .nv.info sections: one byte of format, one of kind, two of size or value.
constexpr std::uint8_t kParameterAttribute = 0x17;
constexpr std::uint8_t kSizedFormat = 4;

template <typename T>
const T* at(const std::byte* file, std::uint64_t offset) {
  return reinterpret_cast<const T*>(file + offset);
}

bool is_host_image(const std::byte* file, std::size_t size) {
  if (size < sizeof(Elf64_Ehdr) || !Elf::is_elf(file)) {
    return false;
  }
  const auto& header = *at<Elf64_Ehdr>(file, 0);
  return header.e_type == ET_DYN && (header.e_machine == EM_X86_64 || header.e_machine == EM_NONE);
}

using Bytes = std::span<const std::byte>;

// Collects the x86-64 images of one read-only segment.
void scan_segment(Bytes segment, std::vector<Bytes>& images) {
  std::size_t offset = 0;
  while (offset + sizeof(OffloadHeader) + sizeof(OffloadEntry) <= segment.size()) {
    const auto& header = *at<OffloadHeader>(segment.data(), offset);
    const std::size_t left = segment.size() - offset;
    if (header.magic != kOffloadMagic || header.version != 1 || header.size > left ||
        header.entry_offset + sizeof(OffloadEntry) > header.size) {
      offset += 8;
      continue;
    }
    const auto& entry = *at<OffloadEntry>(segment.data(), offset + header.entry_offset);
    if (entry.image_offset <= header.size && entry.image_size <= header.size - entry.image_offset) {
      const std::byte* file = segment.data() + offset + entry.image_offset;
      if (is_host_image(file, entry.image_size)) {
        images.emplace_back(file, entry.image_size);
      }
    }
    offset += (header.size + 7) / 8 * 8;
  }
}

enum class Where { kAroundCubin, kProgram, kEverywhere };

struct Scan {
  Where where;
  const std::byte* cubin;
  std::vector<Bytes> images;
};

int scan_object(dl_phdr_info* object, std::size_t, void* argument) {
  auto& scan = *static_cast<Scan*>(argument);
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const auto& header = object->dlpi_phdr[i];
    const Bytes segment(reinterpret_cast<const std::byte*>(object->dlpi_addr + header.p_vaddr), header.p_filesz);
    const bool wanted = scan.where != Where::kAroundCubin ||
                        (scan.cubin >= segment.data() && scan.cubin < segment.data() + segment.size());
    if (header.p_type == PT_LOAD && (header.p_flags & PF_R) != 0 && (header.p_flags & PF_W) == 0 && wanted) {
      scan_segment(segment, scan.images);
    }
  }
  return scan.where == Where::kProgram ? 1 : 0;  // the program is the first object; 1 ends the search
}

std::optional<HostImage> best_of(const std::vector<Bytes>& images, const Cubin& cubin) {
  std::optional<HostImage> best;
  std::size_t most = 0;
  for (const Bytes file : images) {
    Elf elf(file.data(), SHT_DYNSYM);
    std::size_t shared = 0;
    for (const auto& [name, symbol] : elf.symbols()) {
      const auto twin = cubin.elf().symbol(name);
      shared += twin && twin->global ? 1 : 0;
    }
    if (shared > most) {
      most = shared;
      best.emplace(HostImage{file, std::move(elf)});
    }
  }
  return best;
}

}  // namespace

std::optional<HostImage> ptx_twins(const std::string& folder) {
  const int file = open((folder + "/libptx_twins.so").c_str(), O_RDONLY | O_CLOEXEC);
  struct stat facts = {};
  if (file < 0 || fstat(file, &facts) != 0) {
    return std::nullopt;
  }
  const auto size = static_cast<std::size_t>(facts.st_size);
  void* content = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  const auto* bytes = static_cast<const std::byte*>(content);
  if (content == MAP_FAILED || !is_host_image(bytes, size)) {
    return std::nullopt;
  }
  return HostImage{{bytes, size}, Elf(bytes, SHT_DYNSYM)};
}

std::optional<std::vector<std::size_t>> ptx_parameter_sizes(const std::string& ptx, const std::string& kernel) {
  const std::size_t begin = ptx.find(".entry " + kernel + "(");
  if (begin == std::string::npos) {
    return std::nullopt;
  }
  std::vector<std::size_t> sizes;
  const std::size_t end = ptx.find(')', begin);
  for (std::size_t at = ptx.find(".param", begin); at < end; at = ptx.find(".param", at + 1)) {
    sizes.push_back(8);
  }
  return sizes;
}

Elf::Elf(const std::byte* file, std::uint32_t symbol_table_type) : file_(file) {
  for (const Elf64_Shdr& section : sections()) {
    if (section.sh_type != symbol_table_type) {
      continue;
    }
    const auto* strings = at<char>(file_, sections()[section.sh_link].sh_offset);
    const std::span table(at<Elf64_Sym>(file_, section.sh_offset), section.sh_size / sizeof(Elf64_Sym));
    for (const Elf64_Sym& symbol : table) {
      if (symbol.st_shndx != SHN_UNDEF && symbol.st_name != 0) {
        symbols_[strings + symbol.st_name] = {symbol.st_value, symbol.st_size, symbol.st_shndx,
                                              ELF64_ST_BIND(symbol.st_info) != STB_LOCAL};
      }
    }
  }
}

bool Elf::is_elf(const std::byte* file) {
  return std::memcmp(file, ELFMAG, SELFMAG) == 0 && std::to_integer<int>(file[EI_CLASS]) == ELFCLASS64;
}

std::span<const Elf64_Shdr> Elf::sections() const {
  return {at<Elf64_Shdr>(file_, header().e_shoff), header().e_shnum};
}

std::span<const Elf64_Phdr> Elf::segments() const {
  return {at<Elf64_Phdr>(file_, header().e_phoff), header().e_phnum};
}

std::string_view Elf::name(const Elf64_Shdr& section) const {
  return at<char>(file_, sections()[header().e_shstrndx].sh_offset + section.sh_name);
}

const Elf64_Shdr* Elf::section(std::string_view name_wanted) const {
  for (const Elf64_Shdr& section : sections()) {
    if (name(section) == name_wanted) {
      return &section;
    }
  }
  return nullptr;
}

std::span<const std::byte> Elf::bytes(const Elf64_Shdr& section) const {
  return {file_ + section.sh_offset, section.sh_type == SHT_NOBITS ? 0 : section.sh_size};
}

std::optional<Symbol> Elf::symbol(std::string_view name) const {
  const auto found = symbols_.find(std::string(name));
  return found == symbols_.end() ? std::nullopt : std::optional(found->second);
}

bool Cubin::is_cubin(const std::byte* file) {
  return Elf::is_elf(file) && at<Elf64_Ehdr>(file, 0)->e_machine == kCudaMachine;
}

bool Cubin::has_kernel(std::string_view name) const { return elf_.section(".text." + std::string(name)) != nullptr; }

std::vector<std::size_t> Cubin::parameter_sizes(std::string_view kernel) const {
  const Elf64_Shdr* section = elf_.section(".nv.info." + std::string(kernel));
  std::vector<std::size_t> sizes;
  std::span<const std::byte> left = section != nullptr ? elf_.bytes(*section) : std::span<const std::byte>();
  while (left.size() >= 4) {
    const auto format = std::to_integer<std::uint8_t>(left[0]);
    const auto kind = std::to_integer<std::uint8_t>(left[1]);
    std::uint16_t size = 0;
    std::memcpy(&size, &left[2], 2);
    left = left.subspan(4);
    if (format != kSizedFormat) {
      continue;
    }
    if (kind == kParameterAttribute && size >= 12) {
      std::uint16_t ordinal = 0;
      std::uint32_t packed = 0;  // the size stands in the upper 14 bits
      std::memcpy(&ordinal, &left[4], 2);
      std::memcpy(&packed, &left[8], 4);
      sizes.resize(std::max<std::size_t>(sizes.size(), ordinal + 1U));
      sizes[ordinal] = packed >> 18;
    }
    left = left.subspan(std::min<std::size_t>(size, left.size()));
  }
  return sizes;
}

std::span<const std::byte> Cubin::initial_value(const Symbol& symbol) const {
  if (symbol.section >= elf_.sections().size()) {
    return {};
  }
  const auto& section = elf_.sections()[symbol.section];
  const std::span<const std::byte> bytes = elf_.bytes(section);
  const std::uint64_t offset = symbol.value - section.sh_addr;
  return offset <= bytes.size() && symbol.size <= bytes.size() - offset ? bytes.subspan(offset, symbol.size)
                                                                        : std::span<const std::byte>();
}

// Large libraries take long to scan: a twin is usually beside its cubin, or, if libomptarget passes a copy of the
// cubin, in the program.
std::optional<HostImage> find_host_image(const Cubin& cubin) {
  for (const Where where : {Where::kAroundCubin, Where::kProgram, Where::kEverywhere}) {
    Scan scan = {where, reinterpret_cast<const std::byte*>(&cubin.elf().header()), {}};
    dl_iterate_phdr(scan_object, &scan);
    if (std::optional<HostImage> found = best_of(scan.images, cubin)) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace emulator
