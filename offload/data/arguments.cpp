// SPDX-License-Identifier: Apache-2.0
//
// Makes the words of a kernel's arguments. After them comes the memory that the kernel has for itself (map_type::kOwn):
// blocks of words, and patches for the pointers in them. Such a pointer may refer to other such memory: the pointer of
// a dummy argument refers to the array's descriptor. A pointer to data that is not mapped keeps its value (OpenMP 5.2,
// 5.8.6).
#include "data/arguments.hpp"

#include "data/data_environment.hpp"
#include "data/messages.hpp"
#include "device/contract/tool_reports.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace marline::offload::data {

using namespace map_type;

namespace {

// Makes a private copy of item i for one kernel, and returns the copy's base.
uint64_t copy_of(Device* device, const Items& items, int32_t i, Arguments& to) {
  uintptr_t begin = begin_of(items, i);
  size_t bytes = bytes_of(items, i);
  uint64_t allocation = device->kind->allocate(device, bytes + begin % kLine + 1);
  if (allocation == 0) refuse_for_memory(device, items.source, "a private copy of", bytes);
  to.copies.push(allocation);
  uint64_t copy = allocation + begin % kLine;
  report_memory(Memory::kAllocate, device, items.begins[i], allocation, bytes, items.reported);
  bool is_copied = (items.types[i] & kTo) != 0 && bytes != 0;
  if (is_copied && to.later != nullptr) {
    to.later->push({copy, items.begins[i], bytes});
  } else if (is_copied) {
    copy_to(device, copy, items.begins[i], bytes, items.reported);
  }
  return copy - (begin - base_of(items, i));
}

// The device's address of a mapped item; 0: it is not mapped. An implicit map names the whole variable, of which only
// parts may be mapped. Then the kernel gets the address at which the variable would have to begin so that its first
// mapped part lies where it is on the device.
uint64_t find_address(Device* device, const Items& items, int32_t i) {
  uintptr_t begin = begin_of(items, i);
  if (device->mapping->is_shared()) return begin;
  LockedTable table(*device->mapping);
  MapEntry* entry = table->first_overlap(begin, bytes_of(items, i));
  if (entry == nullptr) return 0;
  if ((items.types[i] & kImplicit) != 0) warn_of_parts(*table, items, i, entry);
  return entry->on_device(begin);
}

// Attaches item i, a captured pointer in a lambda's closure, on the device. `closure` is the closure's item, which
// comes earlier, and `argument` the kernel's argument for it.
void attach_capture(Device* device, const Items& items, int32_t i, int32_t closure, uint64_t argument) {
  uint64_t value = device->mapping->translate(items.begins[i]);
  if (value == 0 || device->mapping->is_shared()) return;
  copy_to(device, argument + (base_of(items, i) - base_of(items, closure)), &value, sizeof value, items.reported);
}

struct Block {
  uintptr_t begin;  // address in the program
  size_t bytes;
  uint32_t word;  // index of its first word

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

// The device's address of item i if the item becomes the kernel's own memory only when it is not mapped
// (is_own_unless_mapped), and it is mapped. Else 0.
uint64_t own_on_device(DataEnvironment& environment, const Items& items, int32_t i) {
  if (!is_own_unless_mapped(items.types[i]) || environment.is_shared()) return 0;
  LockedTable table(environment);
  const MapEntry* entry = table->find_variable(base_of(items, i), bytes_of(items, i));
  return entry != nullptr ? entry->address : 0;
}

// Appends the bytes of item i. Returns the block, to which the argument is to point.
Block add_block(const Items& items, int32_t i, List<uint64_t, 16>& words) {
  Block block = {base_of(items, i), bytes_of(items, i), static_cast<uint32_t>(words.count())};
  for (size_t at = 0; at < block.bytes; at += sizeof(uint64_t)) {
    uint64_t value = 0;
    std::memcpy(&value, static_cast<char*>(items.begins[i]) + at, std::min(sizeof value, block.bytes - at));
    words.push(value);
  }
  return block;
}

// `address`: the device's address of the data that the pointer refers to; 0: the data is not mapped.
void add_pointer(const Items& items, int32_t i, uint64_t address, const Blocks& blocks, List<OwnPatch, 4>& patches) {
  uint32_t word = find(blocks, base_of(items, i))->word_of(base_of(items, i));
  if (const Block* block = find(blocks, begin_of(items, i))) {
    patches.push({word, block->word_of(begin_of(items, i)), 0, 0});
  } else if (address != 0) {
    patches.push({word, 0, address, bytes_of(items, i)});
  }
}

// Appends the kernel's own memory to the words. Called when all arguments are in `to`.
void add_own_memory(Device* device, const Items& items, Arguments& to) {
  Blocks blocks;
  uint32_t argument = 0;
  for (int32_t i = 0; i < items.count; ++i) {
    if (is_own_block(items.types[i])) {
      uint64_t mapped = own_on_device(*device->mapping, items, i);
      if (mapped != 0) {
        to.words[argument] = mapped;
      } else {
        blocks.push(add_block(items, i, to.words));
        to.patches.push({argument, blocks.back().word, 0, 0});
      }
    }
    argument += (items.types[i] & kParameter) != 0 ? 1 : 0;
  }
  for (int32_t i = 0; i < items.count && blocks.count() != 0; ++i) {
    if (is_pointer(items.types[i]))
      add_pointer(items, i, device->mapping->translate(items.begins[i]), blocks, to.patches);
  }
}

}  // namespace

void make_arguments(Device* device, const Items& items, bool leading_null, Arguments& to) {
  if (leading_null) to.words.push(0);
  List<uint64_t, 16> of_item;
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i], word = 0;
    uintptr_t base = base_of(items, i);
    if (is_capture(type)) {
      auto closure = static_cast<int32_t>(type >> kMemberShift) - 1;
      attach_capture(device, items, i, closure, of_item[static_cast<size_t>(closure)]);
    } else if ((type & kParameter) == 0 || (type & kOwn) != 0) {
    } else if ((type & kLiteral) != 0) {
      word = base;
    } else if ((type & kPrivate) != 0) {
      word = copy_of(device, items, i, to);
    } else {
      if ((type & kPointerAndObject) != 0) base = *reinterpret_cast<uintptr_t*>(base);
      uint64_t address = find_address(device, items, i);
      // Not mapped: the pointer keeps its value (5.2, 5.8.6).
      word = address != 0 ? address - (begin_of(items, i) - base) : base;
    }
    of_item.push(word);
    if ((type & kParameter) != 0) to.words.push(word);
  }
  add_own_memory(device, items, to);
}

void release_arguments(Device* device, Arguments& arguments, ReportedConstruct* reported) {
  for (uint64_t copy : arguments.copies) {
    report_memory(Memory::kRelease, device, nullptr, copy, 0, reported);
    device->kind->release(device, copy);
  }
}

}  // namespace marline::offload::data
