// SPDX-License-Identifier: Apache-2.0
//
// The content of a trace file: a header; the window into which the thread writes; and then, from `copies_at` on and in
// order, copies of the window, one for each time it was full. All of it is records of 32 bytes, made from the one event
// table (events.def). The newest record may be rewritten (the record of a task's beginning becomes the record of its
// whole run).
//
// Invariant: a record's time is written last, is never 0, and differs from the time of the record that was at its place
// before. So in the file of a program that was killed at any moment, the copies that `flushed` counts are complete, and
// the window begins with the complete records that are younger than the last copy. The first record with time 0, or
// with the time that it has in that copy, ends the trace. (If the window was being copied, that copy is not counted,
// and the window itself is complete.)
#ifndef MARLINE_TRACE_RECORD_HPP
#define MARLINE_TRACE_RECORD_HPP

#include <stddef.h>
#include <stdint.h>

namespace marline::trace {

using u64 = uint64_t;
using i64 = int64_t;

struct Record {
  u64 time;  // raw cycle counter of the thread's CPU
  u64 head;  // task id << 16 | event number
  u64 payload[2];
};
static_assert(sizeof(Record) == 32);

// One struct per event, named as in the table.
namespace event {
#define MARLINE_EVENT(number, name, fields) \
  struct name {                             \
    static constexpr u64 kNumber = number;  \
    fields                                  \
  };                                        \
  static_assert(sizeof(name) <= sizeof(Record::payload));
#define MARLINE_MPI_CALL(number, name, kind)
#include "events.def"
#undef MARLINE_EVENT
#undef MARLINE_MPI_CALL
}  // namespace event

namespace call {
#define MARLINE_EVENT(number, name, fields)
#define MARLINE_MPI_CALL(number, name, kind) constexpr u64 k_##name = number;
#include "events.def"
#undef MARLINE_EVENT
#undef MARLINE_MPI_CALL
}  // namespace call

// FNV-1a (Fowler, Noll, Vo; 64 bits). Of the table: over its lines, "number name fields" or "number name kind", each
// followed by a newline.
constexpr u64 kFnvBasis = 0xcbf29ce484222325;
constexpr u64 fnv1a(const char* text, u64 hash = kFnvBasis) {
  for (; *text != '\0'; ++text) {
    hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3;
  }
  return hash;
}

#define MARLINE_EVENT(number, name, fields) #number " " #name " " #fields "\n"
#define MARLINE_MPI_CALL(number, name, kind) #number " " #name " " #kind "\n"
// The table as the trace's folder has it (events.HASH.def), so that readers with another table know what is in the
// records; and its hash.
inline constexpr char kTable[] =
#include "events.def"
    ;
#undef MARLINE_EVENT
#undef MARLINE_MPI_CALL
constexpr u64 kFingerprint = fnv1a(kTable);

constexpr char kMagic[8] = {'M', 'A', 'R', 'L', 'T', 'R', 'C', '2'};

struct FileHeader {
  char magic[8];
  u64 fingerprint;
  uint32_t record_bytes;
  uint32_t thread;  // number of the thread in its process, from 1: the upper half of the ids it makes
  uint32_t pid;
  uint32_t os_tid;
  u64 window_records;
  u64 flushed;    // number of copies of the window in the file
  u64 copies_at;  // offset in the file of the first copy; 0: directly after the window
  u64 reserved;
};
static_assert(sizeof(FileHeader) == 2 * sizeof(Record));

// The value for a field of `bits` bits: its largest number if `value` is too large for it.
constexpr u64 saturated(u64 value, int bits) {
  const u64 most = (u64{1} << bits) - 1;
  return value < most ? value : most;
}

// A number of cycles in the fields mantissa and exponent of task_create, one above the other: exact below 4,096, to a
// part in 2,048 above.
constexpr u64 shortened(u64 cycles) {
  constexpr u64 kMantissa = 12, kMost = 15;
  const u64 bits = 64 - static_cast<u64>(__builtin_clzll(cycles | ((u64{1} << kMantissa) - 1)));
  const u64 exponent = bits - kMantissa;
  return exponent <= kMost ? exponent << kMantissa | cycles >> exponent : (u64{1} << 16) - 1;
}
static_assert(shortened(4095) == 4095 && shortened(4096) == (1 << 12 | 2048) && shortened(~u64{0}) == 0xffff);

// Packs the kind (bits 0-7) and the properties (bits 24-31) of an ompt_task_flag_t.
constexpr u64 pack_task_flags(int flags) {
  const u64 bits = static_cast<uint32_t>(flags);
  return (bits & 0xff) | (bits >> 16 & 0xff00);
}

}  // namespace marline::trace

#endif
