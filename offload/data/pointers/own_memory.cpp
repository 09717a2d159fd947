// SPDX-License-Identifier: Apache-2.0
//
// Builds the memory that a region's kernel has for itself (map_type::kOwn). A pointer in it may refer to other such
// memory: the pointer of a dummy argument refers to the array's descriptor. A pointer to data that is not mapped keeps
// its value (OpenMP 5.2, 5.8.6).
#include "data/data_environment.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace marline::offload::data {

using namespace device;
using namespace items;

namespace {

using namespace map_type;

struct Block {
  uintptr_t begin;  // address in the program
  size_t bytes;
  uint32_t word;  // index in Arguments::words of its first word

  [[nodiscard]] bool has(uintptr_t address) const { return address - begin < bytes; }
  [[nodiscard]] uint32_t word_of(uintptr_t address) const {
    assert((address - begin) % sizeof(uint64_t) == 0);
    return word + static_cast<uint32_t>((address - begin) / sizeof(uint64_t));
  }
};

using Blocks = List<Block, 8>;

bool is_pointer(uint64_t type) { return (type & (kOwn | kAttach)) == (kOwn | kAttach); }

// The block that has this host address; null: there is none. If several items name the same memory, the block of the
// last of these items counts.
const Block* find(const Blocks& blocks, uintptr_t address) {
  for (uint32_t i = blocks.count(); i-- > 0;) {
    if (blocks.begin()[i].has(address)) return &blocks.begin()[i];
  }
  return nullptr;
}

// `mapped`: the block's address on the device if the variable is mapped anyway, else 0.
void add_block(const Items& items, int32_t i, uint32_t argument, uint64_t mapped, Blocks& blocks, Arguments& to) {
  if (mapped != 0) {
    to.words[argument] = mapped;
    return;
  }
  auto bytes = static_cast<size_t>(items.sizes[i]);
  uint32_t word = to.words.count();
  blocks.push({reinterpret_cast<uintptr_t>(items.bases[i]), bytes, word});
  for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, static_cast<char*>(items.begins[i]) + at, std::min(sizeof value, bytes - at));
    to.words.push(value);
  }
  to.patches.push({argument, word, 0, 0});
}

// `address`: the device's address of the data that the pointer refers to; 0: the data is not mapped.
void add_pointer(const Items& items, int32_t i, uint64_t address, const Blocks& blocks, Arguments& to) {
  auto pointee = reinterpret_cast<uintptr_t>(items.begins[i]);
  auto slot = reinterpret_cast<uintptr_t>(items.bases[i]);
  uint32_t word = find(blocks, slot)->word_of(slot);
  if (const Block* block = find(blocks, pointee)) {
    to.patches.push({word, block->word_of(pointee), 0, 0});
  } else if (address != 0) {
    to.patches.push({word, 0, address, static_cast<uint64_t>(items.sizes[i])});
  }
}

}  // namespace

// The map entry of exactly this variable, or null. When a deferred region runs, only the address of a construct's
// temporary is left: other data may lie there by then, and be mapped.
MapEntry* Mapping::entry_of_variable(const void* host, size_t bytes) const {
  auto begin = reinterpret_cast<uintptr_t>(host);
  MapEntry* entry = find(begin, bytes);
  if (entry == nullptr || entry->begin != begin || entry->end != begin + bytes) return nullptr;
  return entry->references + entry->holds != 0 || entry->forever ? entry : nullptr;
}

// The device's address of a variable that is mapped anyway; 0: it is not mapped.
uint64_t Mapping::own_on_device(const Items& items, int32_t i) {
  if (!is_own_unless_mapped(items.types[i]) || shared_) return 0;
  Guard guard(lock_);
  const MapEntry* entry = entry_of_variable(items.bases[i], static_cast<size_t>(items.sizes[i]));
  return entry != nullptr ? entry->address : 0;
}

void Mapping::add_own_memory(const Items& items, Arguments& to) {
  Blocks blocks;
  uint32_t argument = 0;
  for (int32_t i = 0; i < items.count; ++i) {
    if (is_own_block(items.types[i])) add_block(items, i, argument, own_on_device(items, i), blocks, to);
    argument += (items.types[i] & kParameter) != 0 ? 1 : 0;
  }
  for (int32_t i = 0; i < items.count && blocks.count() != 0; ++i) {
    if (is_pointer(items.types[i])) add_pointer(items, i, translate(items.begins[i]), blocks, to);
  }
}

}  // namespace marline::offload::data
