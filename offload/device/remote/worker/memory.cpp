// SPDX-License-Identifier: Apache-2.0
//
// Keeps variables and code in two search trees under one lock, with as many entries as the program has variables and
// regions.
#include "device/remote/worker/memory.hpp"

#include "base/lock.hpp"
#include "base/ranges.hpp"
#include "base/report.hpp"
#include "device/remote/worker/worker_devices.hpp"
#include "device/processor/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

struct Code : Range {
  char name[];
};

struct DeviceMemory {
  uint64_t begin, end;
  int file;
};
DeviceMemory g_memory[kMostWorkerDevices];
int g_count = 0;
Lock g_lock;  // guards the two trees; held for one search
Ranges g_variables;
Ranges g_code;

template <class Type>
Type* make_range(size_t more, uint64_t begin, uint64_t end) {
  auto* made = static_cast<Type*>(std::calloc(1, sizeof(Type) + more));
  if (made == nullptr) fatal("no memory for the list of a device's regions and variables");
  made->begin = begin;
  made->end = end;
  return made;
}

void remove_between(Ranges& ranges, uint64_t begin, uint64_t end, bool frees) {
  while (Range* range = ranges.first_overlap(begin, end)) {
    ranges.remove(range);
    if (frees) std::free(range);
  }
}

const DeviceMemory* memory_at(uint64_t address) {
  for (int i = 0; i < g_count; ++i) {
    if (address >= g_memory[i].begin && address < g_memory[i].end) return &g_memory[i];
  }
  return nullptr;
}

// Lets the pages come from the domain, whichever process touches them first. The policy belongs to the file, so it also
// holds for the program's copies.
void prefer_domain(void* at, uint64_t bytes, int domain) {
  constexpr int kPreferred = 1;  // MPOL_PREFERRED, linux/mempolicy.h
  constexpr int kWordBits = 8 * sizeof(unsigned long), kMostDomains = 1024;
  unsigned long domains[kMostDomains / kWordBits] = {};
  if (domain < 0 || domain >= kMostDomains) return;
  domains[domain / kWordBits] = 1UL << (domain % kWordBits);
  if (syscall(SYS_mbind, at, bytes, kPreferred, domains, kMostDomains, 0) == 0) return;
  warn("a device's memory cannot be placed on NUMA domain %d (%s): it is placed where it is used first", domain,
       strerror(errno));
}

}  // namespace

int open_worker_memory(uint64_t begin, uint64_t bytes, int domain) {
  int file = make_memory_file(bytes);
  void* at = reinterpret_cast<void*>(begin);
  constexpr int kShared = MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(at, bytes, PROT_READ | PROT_WRITE, kShared, file, 0) != at) {
    fatal("a device's memory, %lu GiB at %#lx, cannot be mapped in its process (%s): is `ulimit -v` set?", bytes >> 30,
          begin, strerror(errno));
  }
  madvise(at, bytes, MADV_DONTDUMP);
  prefer_domain(at, bytes, domain);
  g_memory[g_count++] = {begin, begin + bytes, file};
  return file;
}

void discard_worker_memory(uint64_t address, uint64_t bytes) {
  const DeviceMemory* memory = memory_at(address);
  if (memory == nullptr) return;  // the address is a variable's
  fallocate(memory->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(address - memory->begin),
            static_cast<off_t>(bytes));
}

bool may_access(uint64_t address, uint64_t bytes) {
  if (const DeviceMemory* memory = memory_at(address)) return bytes <= memory->end - address;
  Guard guard(g_lock);
  const Range* range = g_variables.first_overlap(address, address + 1);
  return range != nullptr && bytes <= range->end - address;
}

void allow_variable(uint64_t address, uint64_t bytes) {
  if (bytes == 0) return;
  Guard guard(g_lock);
  remove_between(g_variables, address, address + bytes, true);
  g_variables.insert(make_range<Range>(0, address, address + bytes));
}

void allow_code(uint64_t address, const char* name) {
  size_t length = std::strlen(name) + 1;
  Guard guard(g_lock);
  if (g_code.first_overlap(address, address + 1) != nullptr) return;
  Code* code = make_range<Code>(length, address, address + 1);
  std::memcpy(code->name, name, length);
  g_code.insert(code);
}

const char* name_of_code(uint64_t address) {
  Guard guard(g_lock);
  auto* code = static_cast<Code*>(g_code.first_overlap(address, address + 1));
  return code != nullptr ? code->name : nullptr;
}

void forget_addresses(uint64_t begin, uint64_t end) {
  Guard guard(g_lock);
  remove_between(g_variables, begin, end, true);
  remove_between(g_code, begin, end, false);  // names stay: a kernel that ends may still show one
}

}  // namespace marline::offload::device
