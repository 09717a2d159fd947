// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "file/pack.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "file/container.hpp"

namespace marline::trace {
namespace {

constexpr u64 kWords = sizeof(Record) / sizeof(u64);
constexpr u64 kMostUnits = 16;  // of a group
constexpr u64 kPageBytes = 4096;

u64 rounded_up(u64 bytes, u64 unit) { return (bytes + unit - 1) / unit * unit; }

// Column by column, as differences: most of them repeat or are small, which zstd makes a few bytes per record of.
void differences(const Record* records, u64 count, u64* columns) {
  u64 before[kWords] = {};
  for (u64 i = 0; i < count; ++i) {
    u64 words[kWords];
    memcpy(words, records + i, sizeof words);
    for (u64 word = 0; word < kWords; ++word) {
      columns[word * count + i] = words[word] - before[word];
      before[word] = words[word];
    }
  }
}

}  // namespace

bool Packs::begin() {
  if (columns_ != nullptr) return true;
  units_ = 1;
  columns_ = static_cast<u64*>(malloc(2 * kUnitBytes));
  if (columns_ == nullptr) return false;
  packed_ = columns_ + kUnitBytes / sizeof(u64);
  zstd_.load();
  return true;
}

u64 Packs::append(const UnitHeader& window, const Record* records, u64 count) {
  const u64 whole = count * sizeof(Record);
  differences(records, count, columns_);
  u64 bytes = zstd_.compress(packed_, whole, columns_, whole);
  const BlockForm form = bytes == 0 ? kStored : kColumns;
  if (form == kStored) memcpy(packed_, records, bytes = whole);
  const u64 filled = rounded_up(bytes, sizeof(u64));
  memset(reinterpret_cast<char*>(packed_) + bytes, 0, filled - bytes);
  if (!make_room(sizeof(BlockHeader) + filled)) return 0;

  auto* block = reinterpret_cast<BlockHeader*>(group_ + used_);
  memcpy(block + 1, packed_, filled);
  block->thread = window.thread;
  block->records = static_cast<uint32_t>(count);
  block->form = form;
  block->sequence = window.sequence;
  block->checksum = checksum(packed_, filled / sizeof(u64));
  __atomic_signal_fence(__ATOMIC_SEQ_CST);  // a program that is killed before the last store leaves no block
  *static_cast<volatile uint32_t*>(&block->bytes) = static_cast<uint32_t>(bytes);
  used_ += sizeof(BlockHeader) + filled;
  return sizeof(BlockHeader) + filled;
}

bool Packs::make_room(u64 bytes) {
  if (group_ != nullptr && used_ + bytes <= size_) return true;
  close_group();
  const u64 needed = rounded_up(sizeof(UnitHeader) + bytes, kUnitBytes) / kUnitBytes;
  const u64 units = units_ > needed ? units_ : needed;
  const u64 offset = reserve_units(units);
  void* mapped = map_part(offset, units * kUnitBytes);
  if (mapped == nullptr) return false;
  units_ = 2 * units < kMostUnits ? 2 * units : kMostUnits;
  group_ = static_cast<char*>(mapped);
  offset_ = offset;
  size_ = units * kUnitBytes;
  used_ = sizeof(UnitHeader);
  auto* header = static_cast<UnitHeader*>(mapped);
  header->process = process_number();
  header->units = static_cast<uint32_t>(units);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  memcpy(header->magic, kPackMagic, sizeof header->magic);
  return true;
}

void Packs::close_group() {
  if (group_ == nullptr) return;
  munmap(group_, size_);
  group_ = nullptr;
  const u64 kept = rounded_up(used_, kPageBytes);
  if (kept < size_) drop_part(offset_ + kept, size_ - kept);
}

void Packs::end() {
  close_group();
  zstd_.unload();
  free(columns_);
  columns_ = nullptr;
}

}  // namespace marline::trace
