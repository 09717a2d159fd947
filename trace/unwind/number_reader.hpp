// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers in DWARF's forms (DWARF 5, 7.6; Linux Standard Base 5.0, Core, 10.5) from memory that may not be there.
// After a read that failed all further ones give 0, and `failed` stays true. Every number has a bounded length.
#ifndef MARLINE_TRACE_UNWIND_NUMBER_READER_HPP
#define MARLINE_TRACE_UNWIND_NUMBER_READER_HPP

#include "unwind/memory.hpp"

namespace marline::trace {

class NumberReader {
 public:
  NumberReader(SafeMemory& memory, u64 begin) : at(begin), memory_(memory) {}

  u64 at;
  bool failed = false;

  template <class Number>
  Number take() {
    Number value{};
    if (failed || !memory_.read(at, &value, sizeof value)) {
      failed = true;
      return Number{};
    }
    at += sizeof value;
    return value;
  }

  u64 uleb() {
    u64 value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const u8 byte = take<u8>();
      value |= static_cast<u64>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    failed = true;
    return 0;
  }

  i64 sleb() {
    u64 value = 0;
    for (int shift = 0; shift < 64;) {
      const u8 byte = take<u8>();
      value |= static_cast<u64>(byte & 0x7f) << shift;
      shift += 7;
      if ((byte & 0x80) == 0) {
        if (shift < 64 && (byte & 0x40) != 0) value |= ~u64{0} << shift;
        return static_cast<i64>(value);
      }
    }
    failed = true;
    return 0;
  }

  // A pointer in one of the encodings of .eh_frame: absolute, or relative to its own place.
  u64 encoded(u8 encoding) {
    const u64 here = at;
    u64 value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: value = take<u64>(); break;
      case 0x02: value = take<uint16_t>(); break;
      case 0x03: value = take<u32>(); break;
      case 0x0a: value = static_cast<u64>(i64{take<int16_t>()}); break;
      case 0x0b: value = static_cast<u64>(i64{take<i32>()}); break;
      default: failed = true;
    }
    const u8 base = encoding & 0x70;
    if (base != 0x00 && base != 0x10) failed = true;
    return base == 0x10 ? value + here : value;
  }

 private:
  SafeMemory& memory_;
};

}  // namespace marline::trace

#endif
