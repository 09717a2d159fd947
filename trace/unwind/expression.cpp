// SPDX-License-Identifier: Apache-2.0
//
// See the header. The numbers of the operations are those of DWARF 5, 7.7.1.
#include "unwind/expression.hpp"

#include "unwind/number_reader.hpp"

namespace marline::trace {
namespace {

constexpr int kMostValues = 16;

class Evaluation {
 public:
  Evaluation(SafeMemory& memory, const Registers& registers, NumberReader& in)
      : memory_(memory), registers_(registers), in_(in) {}

  void push(u64 value) {
    if (count_ == kMostValues) {
      in_.failed = true;
      return;
    }
    values_[count_++] = value;
  }

  u64 pop() {
    if (count_ == 0) {
      in_.failed = true;
      return 0;
    }
    return values_[--count_];
  }

  void operation(u8 code) {
    constexpr u8 kLiteral = 0x30, kRegisterAndOffset = 0x70, kEach = 32;
    if (code >= kLiteral && code < kLiteral + kEach) {
      push(u64{code} - kLiteral);
    } else if (code >= kRegisterAndOffset && code < kRegisterAndOffset + kEach) {
      const int number = code - kRegisterAndOffset;
      in_.failed |= number != kReturnAddress && !registers_.knows(number);
      push((number == kReturnAddress && kReturnAddress == 16 ? registers_.pc : registers_.value[number % kRegisters]) +
           static_cast<u64>(in_.sleb()));
    } else if (!constant(code)) {
      calculate(code);
    }
  }

 private:
  bool constant(u8 code) {
    switch (code) {
      case 0x08: push(in_.take<u8>()); return true;
      case 0x09: push(static_cast<u64>(i64{in_.take<int8_t>()})); return true;
      case 0x0a: push(in_.take<uint16_t>()); return true;
      case 0x0b: push(static_cast<u64>(i64{in_.take<int16_t>()})); return true;
      case 0x0c: push(in_.take<u32>()); return true;
      case 0x0d: push(static_cast<u64>(i64{in_.take<i32>()})); return true;
      case 0x10: push(in_.uleb()); return true;
      case 0x11: push(static_cast<u64>(in_.sleb())); return true;
      default: return false;
    }
  }

  void calculate(u8 code) {
    switch (code) {
      case 0x06: {  // deref
        u64 word = 0;
        in_.failed |= !memory_.read_word(pop(), word);
        push(word);
        return;
      }
      case 0x12: {  // dup
        const u64 top = pop();
        push(top);
        push(top);
        return;
      }
      case 0x23: push(pop() + in_.uleb()); return;  // plus_uconst
      default: break;
    }
    const u64 second = pop();
    const u64 first = pop();
    switch (code) {
      case 0x1a: push(first & second); return;
      case 0x1c: push(first - second); return;
      case 0x22: push(first + second); return;
      case 0x24: push(second < 64 ? first << second : 0); return;
      case 0x2a: push(static_cast<i64>(first) >= static_cast<i64>(second) ? 1 : 0); return;
      default: in_.failed = true;
    }
  }

  SafeMemory& memory_;
  const Registers& registers_;
  NumberReader& in_;
  u64 values_[kMostValues];
  int count_ = 0;
};

}  // namespace

bool evaluate(SafeMemory& memory, u64 at, const Registers& registers, const u64* first, u64& result) {
  constexpr u64 kMostBytes = 128;
  NumberReader in(memory, at);
  const u64 length = in.uleb();
  const u64 end = in.at + length;
  if (length > kMostBytes) return false;
  Evaluation evaluation(memory, registers, in);
  if (first != nullptr) evaluation.push(*first);
  while (!in.failed && in.at < end) evaluation.operation(in.take<u8>());
  result = evaluation.pop();
  return !in.failed;
}

}  // namespace marline::trace
