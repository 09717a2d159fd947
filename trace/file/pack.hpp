// SPDX-License-Identifier: Apache-2.0
//
// Compressed blocks: makes one of a window's records, and appends it to this process's groups of units (record.hpp). A
// group is mapped, so a block is written without a system call, and its header is stored last: if the process is killed
// before, there is no block. One thread at a time.
#ifndef MARLINE_TRACE_PACK_HPP
#define MARLINE_TRACE_PACK_HPP

#include "file/record.hpp"
#include "file/zstd.hpp"

namespace marline::trace {

class Packs {
 public:
  // Does nothing if it has begun. False, and errno: no memory.
  bool begin();
  // Appends the records of a window, and says how many bytes that took. 0, and errno: no room on the disk.
  u64 append(const UnitHeader& window, const Record* records, u64 count);
  // Gives back what has not been used.
  void end();

 private:
  bool make_room(u64 bytes);
  void close_group();

  Zstd zstd_;
  u64* columns_;  // scratch for one window, and for its compressed form: of a group, all after used_ stays zero
  u64* packed_;
  char* group_;  // mapped; null: none
  u64 offset_;   // of the group in the file
  u64 size_;     // in bytes
  u64 used_;
  u64 units_;  // of the next group: they grow, so that a short run leaves a small file
};

}  // namespace marline::trace

#endif
