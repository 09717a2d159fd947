// SPDX-License-Identifier: Apache-2.0
//
// A unit of the node's file that is mapped, and into which one thread stores records.
//
// The owner is the thread. When the thread ends, it is the packer (packer.hpp) until the window's block is complete;
// then the window is recycled, for another thread.
#ifndef MARLINE_TRACE_WINDOW_HPP
#define MARLINE_TRACE_WINDOW_HPP

#include "file/record.hpp"

namespace marline::trace {

struct Window {
  UnitHeader* unit;
  u64 offset;    // of the unit in the file
  Window* next;  // in the packer's queue, or in the list of recycled windows

  Record* records() const { return reinterpret_cast<Record*>(unit + 1); }
  // How many records are complete: all before the first time that is 0.
  u64 used() const {
    u64 count = 0;
    while (count < kWindowRecords && records()[count].time != 0) ++count;
    return count;
  }

  // Makes a window for the thread from new units, or null and errno.
  static Window* make();
  // Makes the window the thread's window of that number in the sequence. `clear`: it has been used before.
  void begin(uint32_t thread, u64 sequence, bool clear);
  // Unmaps it and frees the struct; the unit stays in the file as it is.
  void forget();
};

}  // namespace marline::trace

#endif
