// SPDX-License-Identifier: Apache-2.0
//
// Reads what must be known of an executable or a library before it starts: which loader it asks for, and which OpenMP
// entry points it defines or uses. 64-bit little-endian ELF files (System V gABI, elf(5)). Nothing is executed. The
// file may hold any bytes: every access is checked against its end.
#ifndef MARLINE_LAUNCH_PROGRAM_ELF_HPP
#define MARLINE_LAUNCH_PROGRAM_ELF_HPP

#include <string>
#include <string_view>

namespace marline::launch {

// The file is not a 64-bit ELF file, or a part of it lies outside of it. The text says so.
struct NotElf {
  std::string text;
  bool is_damaged = false;
};

// What the file says of itself. An entry point is an OpenMP function, such as GOMP_parallel. All symbols are looked at;
// a stripped file has only its dynamic ones.
struct Elf {
  std::string path;
  std::string machine;
  std::string interpreter;  // "": statically linked, or a library
  std::string soname;
  std::string runtime_entry;  // an entry point that only an OpenMP runtime defines; "": it defines none
  bool has_entry_points = false;
  bool uses_openmp = false;   // it calls an entry point that another file defines
  bool uses_devices = false;  // the same of an entry point for target regions
};

Elf read_elf(const std::string& path);
// The same of a file in memory.
Elf read_elf(const std::string& path, std::string_view bytes);

// Whether the file has texts that libgomp or libomp has, and that `strip` leaves. This reads the whole file.
bool has_texts_of_runtime(const std::string& path);

}  // namespace marline::launch

#endif
