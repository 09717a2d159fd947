// SPDX-License-Identifier: Apache-2.0
//
// The content of a node's file: units of 64 KiB, of which the first has the FileHeader. Each other unit, or group of
// units, belongs to one process and begins with a UnitHeader.
//   kWindowMagic  A window: up to 2,046 records of one thread, as the thread stores them. Or a copy of a full window.
//   kPackMagic    Blocks, one after the other: each has the records of one window, compressed. The first block of 0
//                 bytes, or the end of the group, ends them.
// A record has 32 bytes and is made from the one event table (events.def). The newest record may be rewritten (the
// record of a task's beginning becomes the record of its whole run).
//
// A thread fills one window after the other. `sequence` numbers them, from 0. So the thread's records are those of its
// sequences in order, wherever each is found. While a window is copied or compressed, the window itself stays as it is:
// its sequence then exists twice. It is used again only after its block or copy is complete.
//
// Invariant: of a window whose header has its magic, the records were all zero when it got it, and a record's time is
// written last and never 0. So in the file of a program that was killed at any moment, the first record with time 0
// ends the window, and of a sequence that exists twice, the one with more records has them all.
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

constexpr char kFileMagic[8] = {'M', 'A', 'R', 'L', 'T', 'R', 'C', '3'};
constexpr char kWindowMagic[8] = {'M', 'A', 'R', 'L', 'W', 'I', 'N', '3'};
constexpr char kPackMagic[8] = {'M', 'A', 'R', 'L', 'P', 'A', 'K', '3'};
constexpr u64 kUnitBytes = u64{64} << 10;

// Shared by all processes of the node; `units` and `processes` are atomic.
struct FileHeader {
  char magic[8];
  u64 unit_bytes;
  u64 units;  // reserved so far, without the first
  uint32_t processes;
};

struct UnitHeader {
  char magic[8];  // written last; 0: nothing here
  uint32_t process;
  uint32_t thread;  // of a window: number of the thread in its process, from 1: the upper half of the ids it makes
  uint32_t os_tid;  // of a window
  uint32_t units;   // how many units the group has
  u64 sequence;     // of a window
  u64 empty[4];     // where a record before the first would be: no event looks like it
};
static_assert(sizeof(UnitHeader) == 2 * sizeof(Record));

constexpr u64 kWindowRecords = (kUnitBytes - sizeof(UnitHeader)) / sizeof(Record);

struct BlockHeader {
  uint32_t bytes;  // that follow, up to a multiple of 8; written last
  uint32_t thread;
  uint32_t records;
  uint32_t form;  // BlockForm
  u64 sequence;
  u64 checksum;  // of the bytes, filled up with zeros
};
static_assert(sizeof(BlockHeader) == 32);

// kStored: records as they are. kColumns: compressed by zstd: the four words of the records, column by column, each as
// its difference to the same word of the record before.
enum BlockForm : uint32_t { kStored = 0, kColumns = 1 };

// The sum of all words, each times its odd place (1, 3, 5, ...): cheap here, and in NumPy.
inline u64 checksum(const u64* words, u64 count) {
  u64 sum = 0;
  for (u64 i = 0; i < count; ++i) sum += words[i] * (2 * i + 1);
  return sum;
}

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
