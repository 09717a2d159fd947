// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "unwind/walker.hpp"

#include <string.h>

#include "unwind/expression.hpp"

namespace marline::trace {

int Walker::walk(Registers& registers) {
  memory_.forget();
  unknown_ = false;
  frames_[0] = registers.pc;
  int count = 1;
  bool interrupted = true;  // the frame's address is an instruction, not the one after a call
  while (count < kMostFrames) {
    const bool innermost = count == 1;
    const u64 address = interrupted ? registers.pc : registers.pc - 1;
    if (!step(registers, innermost, address, interrupted) || !is_code(registers.pc)) {
      // Code that was written in assembly often has no call frame information, or a wrong one. It is mostly innermost
      // (the kernels of a BLAS).
      interrupted = false;
      if (!innermost || !search_caller(registers)) break;
    }
    frames_[count++] = registers.pc;
  }
  return count;
}

bool Walker::is_code(u64 address) {
  LoadedCode code;
  return find_loaded_code(address - 1, code);
}

const Walker::KnownRow& Walker::row_of(const LoadedCode& code, u64 address) {
  KnownRow& known = rows_[(address ^ address >> 9) % kRows];
  const u32 version = loaded_code_version();
  if (known.address != address || known.version != version) {
    known.address = address;
    known.version = version;
    known.found = call_frames_.find(memory_, code, address, known.row);
  }
  return known;
}

bool Walker::step(Registers& registers, bool innermost, u64 address, bool& was_signal) {
  LoadedCode code;
  was_signal = false;
  if (!find_loaded_code(address, code)) {
    unknown_ = true;
    return false;
  }
  const KnownRow& known = row_of(code, address);
  if (!known.found) return false;
  was_signal = known.row.is_signal;
  // A copy: where it cannot be followed, the registers stay.
  Registers next = registers;
  if (!apply(known.row, next, innermost)) return false;
  registers = next;
  return true;
}

bool Walker::apply(const Row& row, Registers& registers, bool innermost) {
  const Registers now = registers;
  const u64 below = now.value[kStackPointer];
  u64 frame = 0;
  if (!frame_address(row, now, frame)) return false;
  // Only a function that has saved nothing may share its frame's address with its caller (AArch64).
  if (!row.is_signal && (frame < below || (frame == below && !innermost))) return false;
  registers.set(kStackPointer, frame);
  for (int number = 0; number < kRegisters; ++number) {
    if (row.rule[number] == Rule::kSame) continue;
    u64 value = 0;
    if (caller_value(row, number, now, frame, value)) {
      registers.set(number, value);
    } else {
      registers.lose(number);
    }
  }
  if (!registers.knows(kReturnAddress)) return false;
  registers.pc = plain_address(registers.value[kReturnAddress]);
  // x86-64 has no register for it: each frame must say where it is.
  if (kReturnAddress == 16) registers.lose(kReturnAddress);
  return true;
}

bool Walker::frame_address(const Row& row, const Registers& registers, u64& result) {
  if (row.by_expression) {
    return evaluate(memory_, row.base + static_cast<u64>(i64{row.frame_offset}), registers, nullptr, result);
  }
  result = registers.value[row.frame_register % kRegisters] + static_cast<u64>(i64{row.frame_offset});
  return registers.knows(row.frame_register);
}

bool Walker::caller_value(const Row& row, int number, const Registers& registers, u64 frame, u64& value) {
  const u64 offset = static_cast<u64>(i64{row.offset[number]});
  u64 address = 0;
  switch (row.rule[number]) {
    case Rule::kSaved: return memory_.read_word(frame + offset, value);
    case Rule::kDistance: value = frame + offset; return true;
    case Rule::kExpression:
      return evaluate(memory_, row.base + offset, registers, &frame, address) && memory_.read_word(address, value);
    case Rule::kValue: return evaluate(memory_, row.base + offset, registers, &frame, value);
    case Rule::kSame:
    case Rule::kLost: break;
  }
  return false;
}

// The first word of the stack that is an address after a call. A guess: it may be left from an earlier call.
bool Walker::search_caller(Registers& registers) {
  constexpr u64 kMostWords = 512;
  const u64 begin = registers.value[kStackPointer] & ~u64{7};
#if defined(__aarch64__)
  const u64 link = plain_address(registers.value[kReturnAddress]);
  if (link != registers.pc && follows_call(link)) {
    registers.pc = link;
    return true;
  }
#endif
  for (u64 address = begin; address < begin + 8 * kMostWords; address += 8) {
    u64 word = 0;
    if (!memory_.read_word(address, word)) return false;
    word = plain_address(word);
    if (!follows_call(word)) continue;
    registers.pc = word;
    registers.set(kStackPointer, address + 8);
    return true;
  }
  return false;
}

bool Walker::follows_call(u64 address) {
  if (address < 8 || !is_code(address)) return false;
#if defined(__aarch64__)
  u32 word = 0;
  return memory_.read(address - sizeof word, &word, sizeof word) &&
         (word >> 26 == 0x25 || (word & 0xfffffc1f) == 0xd63f0000);  // bl, blr
#else
  constexpr int kBytes = 7;
  u8 before[kBytes];
  if (!memory_.read(address - kBytes, before, kBytes)) return false;
  if (before[kBytes - 5] == 0xe8) return true;  // call by a distance
  static constexpr int kLengths[] = {2, 3, 4, 6, 7};
  for (const int length : kLengths) {  // through a pointer: ff /2
    const u8* at = before + kBytes - length;
    if (at[0] == 0xff && (at[1] >> 3 & 7) == 2) return true;
  }
  return false;
#endif
}

}  // namespace marline::trace
