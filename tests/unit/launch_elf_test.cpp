// SPDX-License-Identifier: Apache-2.0
//
// Reading executables: this test's own, and damaged copies of it. Whatever their bytes, an answer or NotElf comes.
#include "program/elf.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cstring>
#include <elf.h>
#include <random>

#include "base/file.hpp"

namespace marline::launch {
namespace {

const char* kSelf = "/proc/self/exe";

// True: it was read.
bool is_read(std::string_view bytes) {
  try {
    read_elf("file", bytes);
    return true;
  } catch (const NotElf& error) {
    EXPECT_NE(error.text.find("file"), std::string::npos);
    return false;
  }
}

TEST(Elf, ReadsAnExecutable) {
  const Elf elf = read_elf(kSelf);
  EXPECT_NE(elf.interpreter.find("ld-"), std::string::npos);
  EXPECT_EQ(elf.runtime_entry, "");
  EXPECT_EQ(elf.uses_openmp, omp_get_max_threads() > 0);
  EXPECT_FALSE(elf.uses_devices);
}

TEST(Elf, ReadsARuntime) {
  const Elf elf = read_elf(MARLINE_RUNTIME);
  EXPECT_EQ(elf.interpreter, "");
  EXPECT_EQ(elf.runtime_entry, "GOMP_parallel");
  EXPECT_EQ(elf.soname.substr(0, 13), "libmarline.so");
}

TEST(Elf, SaysWhatIsNone) {
  EXPECT_FALSE(is_read(""));
  EXPECT_FALSE(is_read("\x7f"));
  EXPECT_FALSE(
      is_read("\x7f"
              "ELF"));
  EXPECT_FALSE(is_read("#!/bin/sh\n"));
  EXPECT_FALSE(
      is_read(std::string("\x7f"
                          "ELF\x01\x01",
                          6)));
}

// The bytes have no page behind them that could be read: a step beyond the end would be a fault of the test.
TEST(Elf, ACutFileIsDamaged) {
  const Mapping file(kSelf);
  const std::string_view bytes = file.bytes();
  for (size_t size = 1; size < bytes.size(); size += 1 + size / 16) {
    const std::string cut(bytes.substr(0, size));
    EXPECT_FALSE(is_read(cut)) << size;
  }
}

TEST(Elf, NoBytesCrashIt) {
  const Mapping file(kSelf);
  std::mt19937_64 random(1);
  std::string bytes(file.bytes());
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof header);
  const std::pair<uint64_t, uint64_t> regions[] = {{0, sizeof header},
                                                   {header.e_phoff, uint64_t{header.e_phnum} * header.e_phentsize},
                                                   {header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize}};
  int read = 0, damaged = 0;
  for (int turn = 0; turn < 300; ++turn) {
    const auto& [begin, size] = regions[random() % 3];
    std::vector<std::pair<size_t, char>> changed;
    for (int change = 0; change < 4; ++change) {
      const size_t at = begin + random() % size;
      changed.emplace_back(at, bytes[at]);
      bytes[at] = static_cast<char>(random());
    }
    ++(is_read(bytes) ? read : damaged);
    for (auto one = changed.rbegin(); one != changed.rend(); ++one) bytes[one->first] = one->second;
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(damaged, 0);
}

}  // namespace
}  // namespace marline::launch
