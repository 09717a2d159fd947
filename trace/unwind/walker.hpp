// SPDX-License-Identifier: Apache-2.0
//
// The call stack of the code that a signal has interrupted, whatever stack that code is on: a thread's, a task's or the
// program's own. No bounds of stacks are needed, as the kernel says which memory is there (SafeMemory), and each
// caller's frame must lie above the one before.
//
// For signal handlers: no lock, no allocation. Each thread has a walker of its own. It keeps how to find the caller of
// the addresses that it has met, as programs are mostly in the same functions.
#ifndef MARLINE_TRACE_UNWIND_WALKER_HPP
#define MARLINE_TRACE_UNWIND_WALKER_HPP

#include "unwind/call_frames.hpp"

namespace marline::trace {

class Walker {
 public:
  static constexpr int kMostFrames = 128;

  // Stores the addresses in frames(), the innermost first: that is the interrupted instruction, all others are return
  // addresses. Returns how many, at least 1. `registers` are used up.
  int walk(Registers& registers);
  const u64* frames() const { return frames_; }
  // The same without callers.
  int only(const Registers& registers) {
    frames_[0] = registers.pc;
    return 1;
  }

  // Whether the last walk met code that is not among the loaded code: it may have been loaded since.
  bool met_unknown_code() const { return unknown_; }

 private:
  static constexpr u64 kRows = 512;
  struct KnownRow {
    u64 address;  // 0: none
    u32 version;  // of the loaded code
    bool found;   // false: there is no information on the address
    Row row;
  };

  const KnownRow& row_of(const LoadedCode& code, u64 address);
  bool is_code(u64 address);
  // Replaces the registers by those of the caller. False: the stack ends here, or goes on where it cannot be followed.
  bool step(Registers& registers, bool innermost, u64 address, bool& was_signal);
  bool apply(const Row& row, Registers& registers, bool innermost);
  bool frame_address(const Row& row, const Registers& registers, u64& result);
  bool caller_value(const Row& row, int number, const Registers& registers, u64 frame, u64& value);
  bool search_caller(Registers& registers);
  bool follows_call(u64 address);

  SafeMemory memory_;
  CallFrames call_frames_;
  KnownRow rows_[kRows];
  u64 frames_[kMostFrames];
  bool unknown_;
};

}  // namespace marline::trace

#endif
