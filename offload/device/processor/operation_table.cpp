// SPDX-License-Identifier: Apache-2.0
//
// Keeps the operations in an array that only grows, with a list of the free slots.
#include "device/processor/operation_table.hpp"

#include "base/report.hpp"

#include <cstdlib>

namespace marline::offload::device {

// The caller holds lock_, and no slot is free.
void OperationTable::widen() {
  constexpr uint32_t kFirst = 64;
  uint32_t wider = slot_count_ == 0 ? kFirst : 2 * slot_count_;
  auto* moved = wider <= slot_count_ ? nullptr : static_cast<Slot*>(std::realloc(slots_, size_t{wider} * sizeof(Slot)));
  if (moved == nullptr) fatal("no memory for %u operations of devices at a time", wider);
  slots_ = moved;
  for (uint32_t i = slot_count_; i < wider; ++i) slots_[i] = {nullptr, nullptr, 0, 0, i + 1};
  free_ = slot_count_;
  slot_count_ = wider;
}

OperationTable::Slot* OperationTable::find(uint64_t handle) {
  auto index = static_cast<uint32_t>(handle), count = static_cast<uint32_t>(handle >> 32);
  if (index >= slot_count_ || slots_[index].operation == nullptr || slots_[index].count != count) return nullptr;
  return &slots_[index];
}

uint64_t OperationTable::add(Operation* operation, void* to, size_t bytes) {
  Guard guard(lock_);
  if (free_ == slot_count_) widen();
  uint32_t index = free_;
  Slot& slot = slots_[index];
  free_ = slot.next;
  slot.operation = operation;
  slot.to = to;
  slot.bytes = bytes;
  return uint64_t{++slot.count} << 32 | index;
}

void* OperationTable::place(uint64_t handle, size_t bytes) {
  Guard guard(lock_);
  Slot* slot = find(handle);
  return slot != nullptr && slot->bytes == bytes ? slot->to : nullptr;
}

Operation* OperationTable::take(uint64_t handle) {
  Guard guard(lock_);
  Slot* slot = find(handle);
  if (slot == nullptr) return nullptr;
  Operation* operation = slot->operation;
  slot->operation = nullptr;
  slot->next = free_;
  free_ = static_cast<uint32_t>(slot - slots_);
  return operation;
}

}  // namespace marline::offload::device
