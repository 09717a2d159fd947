// SPDX-License-Identifier: Apache-2.0
//
// Call frame information (.eh_frame: Linux Standard Base 5.0, Core, chapter 10; DWARF 5, 6.4), which compilers leave in
// every file for exceptions: how to find the caller of an instruction, with or without a frame pointer.
// python/marline/ps/unwind.py does the same for `marline ps`. For signal handlers.
#ifndef MARLINE_TRACE_UNWIND_CALL_FRAMES_HPP
#define MARLINE_TRACE_UNWIND_CALL_FRAMES_HPP

#include "unwind/loaded_code.hpp"
#include "unwind/registers.hpp"

namespace marline::trace {

// Where the caller's value of a register is.
enum class Rule : u8 {
  kSame,        // in the register
  kSaved,       // in memory, at the frame's address plus `offset`
  kLost,        // nowhere. Of the return address: the stack ends here
  kExpression,  // in memory, at the value of an expression
  kValue,       // it is the value of an expression
  kDistance,    // it is the frame's address plus `offset`
};

// How to find the caller of one instruction.
struct Row {
  u64 base;          // offsets of expressions are counted from here
  i32 frame_offset;  // the frame's address: that register plus this
  u8 frame_register;
  bool by_expression;  // the frame's address is an expression's value, at `base` plus frame_offset
  bool is_signal;      // the frame of a signal: its caller was interrupted, and has called nothing
  Rule rule[kRegisters];
  i32 offset[kRegisters];
};

// Runs the instructions of one function up to an address. Large, so it lies with what a thread keeps.
class CallFrames {
 public:
  // False: the code has no information on this address, or one that is not understood.
  bool find(SafeMemory& memory, const LoadedCode& code, u64 address, Row& result);

 private:
  static constexpr int kMostKept = 8;

  bool read_common(SafeMemory& memory, u64 at);
  bool run(SafeMemory& memory, u64 at, u64 end, u64 target);
  // What one instruction does to the row, or by how much it moves the location.
  bool extended(u8 code, class NumberReader& in, u64& step);
  bool define(u8 code, NumberReader& in);
  void set(u64 number, Rule rule, i64 offset);
  void restore(u64 number);

  u64 code_unit_;
  i64 data_unit_;
  u8 encoding_;
  bool augmented_;
  u64 preamble_, preamble_end_;
  u64 location_;
  Row row_;
  Row first_;
  Row kept_[kMostKept];
  int kept_count_;
};

}  // namespace marline::trace

#endif
