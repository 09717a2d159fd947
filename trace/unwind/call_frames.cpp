// SPDX-License-Identifier: Apache-2.0
//
// See the header. Everything is bounded: a damaged file costs a stack, and no more.
#include "unwind/call_frames.hpp"

#include <string.h>

#include "unwind/number_reader.hpp"

namespace marline::trace {
namespace {

constexpr int kMostInstructions = 2000;

// The description of the function around `address`, or 0: by bisection in the index, which linkers sort.
u64 find_entry(SafeMemory& memory, u64 index, u64 address) {
  struct Entry {
    i32 start;
    i32 description;  // both from the index's address on
  };
  constexpr u8 kTableEncoding = 0x3b;  // what linkers write
  NumberReader in(memory, index);
  in.take<u8>();  // version
  const u8 frame_encoding = in.take<u8>();
  const u8 count_encoding = in.take<u8>();
  const u8 encoding = in.take<u8>();
  in.encoded(frame_encoding);
  const u64 count = in.encoded(count_encoding);
  if (in.failed || encoding != kTableEncoding) return 0;
  u64 low = 0;
  u64 high = count;
  Entry entry{};
  while (low < high) {
    const u64 middle = (low + high) / 2;
    if (!memory.read(in.at + middle * sizeof entry, &entry, sizeof entry)) return 0;
    if (index + static_cast<u64>(i64{entry.start}) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0 || !memory.read(in.at + (low - 1) * sizeof entry, &entry, sizeof entry)) return 0;
  return index + static_cast<u64>(i64{entry.description});
}

}  // namespace

bool CallFrames::find(SafeMemory& memory, const LoadedCode& code, u64 address, Row& result) {
  const u64 entry = code.frames == 0 ? 0 : find_entry(memory, code.frames, address);
  if (entry == 0) return false;
  NumberReader in(memory, entry);
  const u32 length = in.take<u32>();
  const u64 end = in.at + length;
  const u64 here = in.at;
  memset(&row_, 0, sizeof row_);
  row_.base = entry;
  if (!read_common(memory, here - in.take<u32>())) return false;
  const u64 begin = in.encoded(encoding_);
  const u64 bytes = in.encoded(encoding_ & 0x0f);
  if (in.failed || address < begin || address - begin >= bytes) return false;
  if (augmented_) {
    const u64 skipped = in.uleb();
    in.at += skipped;
  }
  kept_count_ = 0;
  location_ = 0;
  if (!run(memory, preamble_, preamble_end_, ~u64{0})) return false;
  first_ = row_;
  location_ = begin;
  if (!run(memory, in.at, end, address)) return false;
  result = row_;
  return true;
}

bool CallFrames::read_common(SafeMemory& memory, u64 at) {
  constexpr int kMostLetters = 8;
  NumberReader in(memory, at);
  const u32 length = in.take<u32>();
  preamble_end_ = in.at + length;
  in.take<u32>();  // 0: a common description
  const u8 version = in.take<u8>();
  char letters[kMostLetters] = {};
  int count = 0;
  for (char letter = in.take<char>(); letter != '\0'; letter = in.take<char>()) {
    if (count == kMostLetters) return false;
    letters[count++] = letter;
  }
  code_unit_ = in.uleb();
  data_unit_ = in.sleb();
  if (version == 1) {  // the register of the return address
    in.take<u8>();
  } else {
    in.uleb();
  }
  encoding_ = 0;
  augmented_ = count > 0 && letters[0] == 'z';
  const u64 bytes = augmented_ ? in.uleb() : 0;
  preamble_ = in.at + bytes;
  for (int i = 1; i < count && augmented_; ++i) {
    switch (letters[i]) {
      case 'R': encoding_ = in.take<u8>(); break;
      case 'L': in.take<u8>(); break;
      case 'P': in.encoded(in.take<u8>() & 0x7f); break;
      case 'S': row_.is_signal = true; break;
      default: break;  // AArch64's 'B' and 'G' have no data
    }
  }
  return !in.failed;
}

bool CallFrames::run(SafeMemory& memory, u64 at, u64 end, u64 target) {
  NumberReader in(memory, at);
  for (int i = 0; i < kMostInstructions && !in.failed; ++i) {
    if (in.at >= end) return true;
    const u8 code = in.take<u8>();
    const u8 low = code & 0x3f;
    u64 step = 0;
    switch (code & 0xc0) {
      case 0x40: step = low; break;                                                        // advance_loc
      case 0x80: set(low, Rule::kSaved, static_cast<i64>(in.uleb()) * data_unit_); break;  // offset
      case 0xc0: restore(low); break;                                                      // restore
      default:
        if (!extended(low, in, step)) return false;
    }
    location_ += step * code_unit_;
    if (location_ > target) return !in.failed;
  }
  return false;
}

bool CallFrames::extended(u8 code, NumberReader& in, u64& step) {
  switch (code) {
    case 0x00:
    case 0x2d: return true;  // nop; AArch64's negate_ra_state: plain_address() needs no state
    case 0x02: step = in.take<u8>(); return true;
    case 0x03: step = in.take<uint16_t>(); return true;
    case 0x04: step = in.take<u32>(); return true;
    case 0x0a:  // remember_state
      if (kept_count_ == kMostKept) return false;
      kept_[kept_count_++] = row_;
      return true;
    case 0x0b:  // restore_state
      if (kept_count_ == 0) return false;
      row_ = kept_[--kept_count_];
      return true;
    case 0x2e: in.uleb(); return true;  // GNU_args_size
    default: return define(code, in);
  }
}

bool CallFrames::define(u8 code, NumberReader& in) {
  if (code >= 0x0c && code <= 0x0f) row_.by_expression = code == 0x0f;
  const auto skip = [&in] {
    const u64 bytes = in.uleb();
    in.at += bytes;
  };
  switch (code) {
    case 0x05: {  // offset_extended
      const u64 number = in.uleb();
      set(number, Rule::kSaved, static_cast<i64>(in.uleb()) * data_unit_);
      return true;
    }
    case 0x06: restore(in.uleb()); return true;              // restore_extended
    case 0x07: set(in.uleb(), Rule::kLost, 0); return true;  // undefined
    case 0x08: set(in.uleb(), Rule::kSame, 0); return true;  // same_value
    case 0x0c: {                                             // def_cfa
      row_.frame_register = static_cast<u8>(in.uleb());
      row_.frame_offset = static_cast<i32>(in.uleb());
      return true;
    }
    case 0x0d: row_.frame_register = static_cast<u8>(in.uleb()); return true;  // def_cfa_register
    case 0x0e: row_.frame_offset = static_cast<i32>(in.uleb()); return true;   // def_cfa_offset
    case 0x0f: {                                                               // def_cfa_expression
      row_.frame_offset = static_cast<i32>(in.at - row_.base);
      skip();
      return true;
    }
    case 0x10:
    case 0x16: {  // expression, val_expression
      const u64 number = in.uleb();
      set(number, code == 0x10 ? Rule::kExpression : Rule::kValue, static_cast<i64>(in.at - row_.base));
      skip();
      return true;
    }
    case 0x11: {  // offset_extended_sf
      const u64 number = in.uleb();
      set(number, Rule::kSaved, in.sleb() * data_unit_);
      return true;
    }
    case 0x12: {  // def_cfa_sf
      row_.frame_register = static_cast<u8>(in.uleb());
      row_.frame_offset = static_cast<i32>(in.sleb() * data_unit_);
      return true;
    }
    case 0x13: row_.frame_offset = static_cast<i32>(in.sleb() * data_unit_); return true;  // def_cfa_offset_sf
    case 0x14: {                                                                           // val_offset
      const u64 number = in.uleb();
      set(number, Rule::kDistance, static_cast<i64>(in.uleb()) * data_unit_);
      return true;
    }
    default: return false;
  }
}

// Of registers that no caller needs (vectors), nothing is kept.
void CallFrames::set(u64 number, Rule rule, i64 offset) {
  if (number >= kRegisters) return;
  row_.rule[number] = rule;
  row_.offset[number] = static_cast<i32>(offset);
}

void CallFrames::restore(u64 number) {
  if (number < kRegisters) set(number, first_.rule[number], first_.offset[number]);
}

}  // namespace marline::trace
