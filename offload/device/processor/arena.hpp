// SPDX-License-Identifier: Apache-2.0
//
// A device's memory and its allocator. The memory is a file in memory that two processes map. The device's process maps
// it at the device's part of the window (window.hpp), where this process has no access. This process maps it at an
// address that only it uses, for copies. Only this process allocates, and its records are not in that memory: so the
// device cannot damage them. Any thread.
//
// A block has the size of its class. There are four classes per power of two, so a block has up to a quarter more bytes
// than asked for. That costs addresses, not memory, which the system provides page by page. A freed block is used again
// for its class; a large one returns its memory to the system, too. Only the records of the blocks (ranges.hpp) grow
// with the number of blocks.
#pragma once

#include "base/list.hpp"
#include "base/intrusive_list.hpp"
#include "base/lock.hpp"
#include "base/ranges.hpp"

namespace marline::offload::device {

// Makes a file in memory that several processes can map. Ends the program if that fails.
[[nodiscard]] int make_memory_file(uint64_t bytes);

class Arena {
 public:
  // Makes the memory and maps it. `begin`: where the device's part begins. Ends the program if that fails.
  void open(uint64_t begin, uint64_t bytes);
  // The same for memory that another process has made and maps at `begin`. `file`: its descriptor in this process, or
  // -1 if this process cannot reach the memory. `limit`: bytes of memory that the other process's machine has.
  void adopt(uint64_t begin, uint64_t bytes, uint64_t limit, int file);
  // The same for memory with addresses that are valid on the device only: nothing is mapped here.
  void manage(uint64_t begin, uint64_t bytes);
  // Called once in the device's process, a fork of the program: maps the memory at `begin`. Other forks do not map it.
  void enter();

  // The descriptor that `enter` needs.
  [[nodiscard]] int file() const { return file_; }

  // 0: so much is not left of the machine's memory.
  [[nodiscard]] uint64_t allocate(size_t bytes);
  void release(uint64_t address);
  // `address` is the begin of a block. How many bytes from there on the owner of the memory should return to the system
  // when the block is released; 0 if there are none, or if `release` returns them itself.
  [[nodiscard]] size_t bytes_to_give_back(uint64_t address);

  // Where this process has mapped `address`.
  [[nodiscard]] char* here(uint64_t address) const { return alias_ + (address - begin_); }

 private:
  struct Block;
  Block* block_at(uint64_t address);
  void reserve(uint64_t begin, uint64_t bytes);
  void map_alias();

  static constexpr int kClasses = 4 * 40;

  Lock lock_;
  uint64_t begin_ = 0;
  uint64_t bytes_ = 0;
  uint64_t used_ = 0;       // bytes from the begin of the part that blocks have been cut from
  uint64_t allocated_ = 0;  // bytes in blocks that are not free
  uint64_t limit_ = 0;      // the most that may be allocated: the machine's memory
  char* alias_ = nullptr;
  int file_ = -1;
  Ranges blocks_;
  IntrusiveList<Block> free_[kClasses];
};

}  // namespace marline::offload::device
