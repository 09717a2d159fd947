// SPDX-License-Identifier: Apache-2.0
//
// The map entries of one device, by host address: look-up, removal, and which of them are in flight. Guarded by the
// lock of the data environment; LockedTable (data_environment.hpp) holds it.
#pragma once

#include "data/copies.hpp"
#include "data/map_entry.hpp"
#include "data/pointers/wanted_pointers.hpp"
#include "data/storage.hpp"

namespace marline::offload::data {

class MapTable {
 public:
  explicit MapTable(Device* device) : device_(device), storage_(device) {}

  [[nodiscard]] Device* device() const { return device_; }
  [[nodiscard]] Storage& storage() { return storage_; }
  [[nodiscard]] WantedPointers& wanted() { return wanted_; }

  // The first map entry that has one of the bytes, or null. 0 bytes stand for the byte at `begin`.
  [[nodiscard]] MapEntry* first_overlap(uintptr_t begin, size_t bytes) const {
    return static_cast<MapEntry*>(entries_.first_overlap(begin, begin + bytes));
  }
  // The map entry that contains the bytes, or null. An entry that overlaps them only in part is not found.
  [[nodiscard]] MapEntry* find(uintptr_t begin, size_t bytes) const {
    MapEntry* entry = first_overlap(begin, bytes);
    return entry != nullptr && entry->contains(begin, begin + bytes) ? entry : nullptr;
  }
  // The map entry of an item that has been mapped, or null. An implicit item may cover more than is mapped.
  [[nodiscard]] MapEntry* find_item(const Items& items, int32_t i) const {
    bool is_implicit = (items.types[i] & map_type::kImplicit) != 0;
    return is_implicit ? first_overlap(begin_of(items, i), bytes_of(items, i))
                       : find(begin_of(items, i), bytes_of(items, i));
  }
  // The map entry in which the item's pointer lies; null: there is none, or the item has no pointer.
  [[nodiscard]] MapEntry* find_slot(const Items& items, int32_t i) const {
    return has_slot(items.types[i]) ? find(base_of(items, i), sizeof(void*)) : nullptr;
  }
  // The map entry of exactly this variable, or null. An entry with other bounds is not found: when a deferred region
  // runs, a temporary that its construct named may no longer exist, and other data that lies at its address may be
  // mapped.
  [[nodiscard]] MapEntry* find_variable(uintptr_t begin, size_t bytes) const {
    MapEntry* entry = find(begin, bytes);
    bool is_variable = entry != nullptr && entry->begin == begin && entry->bytes() == bytes && entry->counts.is_kept();
    return is_variable ? entry : nullptr;
  }

  // Calls `function(entry)` for each map entry, by address.
  template <class Function>
  void for_each(Function function) const {
    visit(entries_.root(), function);
  }

  [[nodiscard]] PlannedConstruct begin_construct(const Items& items) {
    return {.number = ++constructs_, .of_region = items.of_region, .source = items.source};
  }

  void insert(MapEntry* entry) { entries_.insert(entry); }
  // Removes the entry from the table, and forgets the pointers into it. Does not free it.
  void take_off(MapEntry* entry) {
    entries_.remove(entry);
    wanted_.forget(entry);
  }
  // Frees an entry that is not in the table.
  void release(MapEntry* entry);

  // Calls `function(in_flight)` for each map entry in flight in which an item or its pointer lies, until the function
  // returns true. False: no call has returned true.
  template <class Function>
  bool any_in_flight(const Items& items, Function function) const {
    for (int32_t i = 0; i < items.count && in_flight_count_ != 0; ++i) {
      uint64_t type = items.types[i];
      if (has_no_storage(type)) continue;
      bool in_parts = (type & map_type::kNonContiguous) != 0;
      MapEntry* entries[] = {
          in_parts ? first_overlap(begin_of_parts(items, i), 0) : first_overlap(begin_of(items, i), bytes_of(items, i)),
          has_slot(type) ? first_overlap(base_of(items, i), sizeof(void*)) : nullptr};
      for (MapEntry* entry : entries) {
        if (entry != nullptr && entry->in_flight != nullptr && function(entry->in_flight)) return true;
      }
    }
    return false;
  }
  // From now on, other constructs may find `in_flight` in map entries, and wait for it.
  void note_in_flight() { ++in_flight_count_; }
  void end_in_flight(InFlight& in_flight) {
    --in_flight_count_;
    in_flight.wake();
  }
  // Called in a fork's child, in which the constructs that fill or empty map entries do not exist. Removes the entries
  // that they were filling or emptying, and attaches the pointers that they were attaching. Needs no lock, as the child
  // has one thread.
  void drop_in_flight();

  // Notes if an address lies outside of the map entry that it belongs to.
  void note_far_pointer(const MapEntry& of, uintptr_t address) const {
    if (!of.contains(address, address + 1)) device_->has_far_pointers.store(true, std::memory_order_relaxed);
  }

 private:
  template <class Function>
  static void visit(const Range* at, Function& function) {
    if (at == nullptr) return;
    visit(at->left, function);
    function(*static_cast<const MapEntry*>(at));
    visit(at->right, function);
  }

  Device* device_;
  RecentRanges entries_;
  Storage storage_;
  WantedPointers wanted_;
  uint64_t constructs_ = 0;       // number of the construct that has begun or ended last
  uint32_t in_flight_count_ = 0;  // number of InFlight objects that other constructs can find
};

}  // namespace marline::offload::data
