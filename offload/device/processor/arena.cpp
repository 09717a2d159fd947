// SPDX-License-Identifier: Apache-2.0
//
// Maps a device's memory into this process, and allocates blocks of it.
#include "device/processor/arena.hpp"

#include "base/forks.hpp"
#include "base/report.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

constexpr size_t kSmallest = 64;
constexpr size_t kGiveBack = 1 << 20;  // a freed block of this size or more returns its memory to the system
constexpr size_t kPage = 4096;

int class_of(size_t bytes) {
  if (bytes <= kSmallest) return 0;
  int power = 63 - __builtin_clzl(bytes - 1);  // 2^power < bytes <= 2^(power + 1)
  size_t step = (size_t{1} << power) / 4;
  return 4 * (power - 6) + static_cast<int>((bytes - 1 - (size_t{1} << power)) / step) + 1;
}

size_t size_of_class(int number) {
  if (number == 0) return kSmallest;
  int power = (number - 1) / 4 + 6;
  size_t bytes = (size_t{1} << power) + static_cast<size_t>((number - 1) % 4 + 1) * ((size_t{1} << power) / 4);
  return (bytes + kSmallest - 1) & ~(kSmallest - 1);
}

}  // namespace

int make_memory_file(uint64_t bytes) {
  int file = memfd_create("device-memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    fatal("no memory that two processes share for a device: %s", strerror(errno));
  }
  return file;
}

struct Arena::Block : Range {
  Block* next;  // the next free block of the same class
  int size_class;
};

void Arena::reserve(uint64_t begin, uint64_t bytes) {
  begin_ = begin;
  bytes_ = bytes;
  void* at = reinterpret_cast<void*>(begin);
  constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  if (mmap(at, bytes, PROT_NONE, kReserved | MAP_FIXED_NOREPLACE, -1, 0) != at) {
    fatal("the addresses of a device's memory, %lu GiB at %#lx, cannot be reserved (%s): is `ulimit -v` set?",
          bytes >> 30, begin, strerror(errno));
  }
  hold_across_forks(lock_, ForkOrder::kArena);
}

void Arena::map_alias() {
  void* alias = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (alias == MAP_FAILED) fatal("a device's memory, %lu GiB, cannot be mapped: %s", bytes_ >> 30, strerror(errno));
  madvise(alias, bytes_, MADV_DONTDUMP);
  madvise(alias, bytes_, MADV_DONTFORK);  // a fork of the program must not write to the program's device
  alias_ = static_cast<char*>(alias);
}

void Arena::open(uint64_t begin, uint64_t bytes) {
  reserve(begin, bytes);
  limit_ = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  file_ = make_memory_file(bytes);
  map_alias();
}

void Arena::adopt(uint64_t begin, uint64_t bytes, uint64_t limit, int file) {
  reserve(begin, bytes);
  limit_ = limit;
  file_ = file;
  if (file >= 0) map_alias();
}

void Arena::manage(uint64_t begin, uint64_t bytes) {
  begin_ = begin;
  bytes_ = limit_ = bytes;
  hold_across_forks(lock_, ForkOrder::kArena);
}

void Arena::enter() {
  void* at = reinterpret_cast<void*>(begin_);
  constexpr int kShared = MAP_SHARED | MAP_NORESERVE | MAP_FIXED;
  if (mmap(at, bytes_, PROT_READ | PROT_WRITE, kShared, file_, 0) != at) {
    fatal("a device's memory cannot be mapped in its process: %s", strerror(errno));
  }
  close(file_);
  file_ = -1;
  alias_ = static_cast<char*>(at);
}

uint64_t Arena::allocate(size_t bytes) {
  int number = class_of(bytes);
  Guard guard(lock_);
  if (number >= kClasses || allocated_ + size_of_class(number) > limit_) return 0;
  Block* block = free_[number].pop();
  if (block == nullptr) {
    size_t size = size_of_class(number);
    uint64_t offset = size >= kGiveBack ? (used_ + kPage - 1) & ~uint64_t{kPage - 1} : used_;
    block = offset + size <= bytes_ ? static_cast<Block*>(std::calloc(1, sizeof(Block))) : nullptr;
    if (block == nullptr) return 0;
    block->size_class = number;
    block->begin = begin_ + offset;
    block->end = block->begin + size;
    used_ = offset + size;
  }
  blocks_.insert(block);
  allocated_ += block->end - block->begin;
  return block->begin;
}

// The caller holds lock_.
Arena::Block* Arena::block_at(uint64_t address) {
  auto* block = static_cast<Block*>(blocks_.first_overlap(address, address + 1));
  if (block == nullptr || block->begin != address)
    fatal("%#lx is freed, but no memory of a device begins there", address);
  return block;
}

size_t Arena::bytes_to_give_back(uint64_t address) {
  if (file_ >= 0) return 0;
  Guard guard(lock_);
  const Block* block = block_at(address);
  size_t size = block->end - block->begin;
  return size >= kGiveBack ? size & ~(kPage - 1) : 0;
}

void Arena::release(uint64_t address) {
  Guard guard(lock_);
  Block* block = block_at(address);
  size_t size = block->end - block->begin;
  blocks_.remove(block);
  allocated_ -= size;
  if (size >= kGiveBack && file_ >= 0) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(address - begin_),
              static_cast<off_t>(size & ~(kPage - 1)));
  }
  free_[block->size_class].push_first(block);
}

}  // namespace marline::offload::device
