// SPDX-License-Identifier: Apache-2.0
//
// A device's memory, as a file in memory that this process and the device's map: the device at its part of the window,
// where this process has no access, and this process at an address that it keeps to itself, for copies. Allocation is
// this side's business alone: what the device does to its memory cannot hurt it. Any thread.
//
// A block has the size of its class: four classes per power of two, so up to a quarter more than asked for; that costs
// addresses, not memory, which the system gives by the page. Freed blocks serve their class again; large ones give
// their memory back. Nothing here grows with the number of blocks but the record of each (ranges.hpp).
#pragma once

#include "base/array.hpp"
#include "base/lock.hpp"
#include "base/ranges.hpp"

namespace marline::offload::device {

// A file in memory that several processes can map. Ends the program if there is none.
[[nodiscard]] int make_memory_file(uint64_t bytes);

class Arena {
 public:
  // Maps it; `begin`: of the device's part. Ends the program if that cannot be.
  void open(uint64_t begin, uint64_t bytes);
  // The same for memory that another process has made and maps at `begin`: `file`, or -1 where this process cannot
  // reach it. `limit`: bytes of that machine's memory.
  void adopt(uint64_t begin, uint64_t bytes, uint64_t limit, int file);
  // The same for memory whose addresses mean something on the device alone: nothing is mapped here.
  void manage(uint64_t begin, uint64_t bytes);
  // In the device's process, a fork of the program, once: accessible at `begin`. Other forks do not map the memory.
  void enter();

  // The descriptor that `enter` needs.
  [[nodiscard]] int file() const { return file_; }

  // 0: more than is left of the machine's memory.
  [[nodiscard]] uint64_t allocate(size_t bytes);
  void release(uint64_t address);
  // The bytes behind `address`, a block's begin, whose memory should go back to the system when the block is released,
  // if this process cannot do so; else 0.
  [[nodiscard]] size_t bytes_to_give_back(uint64_t address);

  // Where this process reaches it.
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
  uint64_t used_ = 0;       // of the part, from its begin on
  uint64_t allocated_ = 0;  // in blocks
  uint64_t limit_ = 0;      // of that: the machine's memory
  char* alias_ = nullptr;
  int file_ = -1;
  Ranges blocks_;
  Block* free_[kClasses] = {};
};

}  // namespace marline::offload::device
