// SPDX-License-Identifier: Apache-2.0
//
// Maps and unmaps the data of constructs that wait for their copies, and makes permanent map entries.
#include "data/data_environment.hpp"

#include "base/forks.hpp"
#include "base/make.hpp"
#include "data/mapper.hpp"
#include "device/contract/tool_reports.hpp"
#include "device/contract/users_memory.hpp"

namespace marline::offload::data {

namespace {

using namespace map_type;

uintptr_t address_of(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// Reports a list of the construct's own map entries to a tool. They are in flight, so no other construct changes them.
void report_entries(Memory what, Device* device, IntrusiveList<MapEntry> entries, ReportedConstruct* reported) {
  if (!is_reported(MARLINE_ON_DATA | MARLINE_ON_TIMES)) return;
  for (const MapEntry* entry : entries) {
    if (entry->allocation == 0) continue;
    report_memory(what, device, reinterpret_cast<const void*>(entry->begin), entry->address, entry->bytes(), reported);
  }
}

// Calls the function with the items after their mappers have run.
template <class Function>
void run_mappers(const Items& items, Function function) {
  if (items.mappers == nullptr) return function(items);
  Expansion expansion(items);
  function(expansion.items());
  expansion.return_bases(items);
}

void write_slots(Plan& plan, Device* device, ReportedConstruct* reported) {
  List<Transfer, 8> copies;
  for (Slot& slot : plan.slots) copies.push({slot.device, &slot.value, sizeof slot.value, slot.fills});
  make_copies(device, copies, true, reported);
}

// ompt_target_map_flag_t.
unsigned flags_of(uint64_t type, bool ends) {
  constexpr unsigned kFlagTo = 0x01, kFlagFrom = 0x02, kFlagAlloc = 0x04, kFlagRelease = 0x08, kFlagDelete = 0x10,
                     kFlagImplicit = 0x20;
  unsigned flags = (type & kImplicit) != 0 ? kFlagImplicit : 0;
  if ((type & kFrom) != 0) flags |= kFlagFrom;
  if (ends) return flags | ((type & kDelete) != 0 ? kFlagDelete : kFlagRelease);  // `to` is reported at the begin
  if ((type & kTo) != 0) flags |= kFlagTo;
  if ((type & (kTo | kFrom)) == 0) flags |= kFlagAlloc;
  return flags;
}

}  // namespace

DataEnvironment::DataEnvironment(Device* device) : device_(device), table_(device) {
  hold_across_forks(lock_, ForkOrder::kMapping);
}

// Takes the lock when none of the construct's data is in flight for another construct.
void DataEnvironment::lock_for(const Items& items) {
  lock_.take();
  auto wait = [this](InFlight* in_flight) {
    in_flight->wait(lock_, device_);
    return true;
  };
  while (table_.any_in_flight(items, wait)) {
  }
}

void DataEnvironment::begin(const Items& items) {
  if (is_shared_ || items.count == 0) return;
  run_mappers(items, [this](const Items& all) { begin_expanded(all); });
  report_maps(items, false);
}

void DataEnvironment::begin_expanded(const Items& items) {
  Plan plan;
  plan.blocks.may_share = table_.storage().is_shared(items.count);
  lock_for(items);
  plan.construct = table_.begin_construct(items);
  plan.add(table_, items);
  IntrusiveList<MapEntry> created = plan.entries;  // the entries that are added later only get pointers and descriptors
  // From now on other constructs find the descriptors noted as copied, so they wait until the copies are done.
  for (MapEntry* entry : plan.described) plan.make_in_flight(entry);
  for (const AttachLater& one : plan.attachments) plan.attach(table_, one);
  plan.note_in_flight(table_, false);
  lock_.release();
  report_entries(Memory::kAllocate, device_, created, items.reported);
  make_copies(device_, plan.copies, true, items.reported);
  write_slots(plan, device_, items.reported);
  if (plan.entries.is_empty()) return;
  Guard guard(lock_);
  for (MapEntry* entry : plan.entries) {
    entry->in_flight = nullptr;
    entry->empty = false;
  }
  table_.end_in_flight(plan.in_flight);
}

void DataEnvironment::end(const Items& items) {
  if (is_shared_ || items.count == 0) return;
  report_maps(items, true);
  run_mappers(items, [this](const Items& all) {
    lock_for(all);
    end_locked(all);
  });
}

bool DataEnvironment::try_end(const Items& items) {
  if (is_shared_ || items.count == 0) return true;
  lock_.take();
  if (table_.any_in_flight(items, [](InFlight*) { return true; })) {
    lock_.release();
    return false;
  }
  end_locked(items);
  return true;
}

// Called with the lock, and left without it.
void DataEnvironment::end_locked(const Items& items) {
  Plan plan;
  plan.construct = table_.begin_construct(items);
  plan.subtract(table_, items);
  plan.note_in_flight(table_, true);
  lock_.release();
  make_copies(device_, plan.copies, false, items.reported);
  finish_end(items, plan);
}

// Releases the memory without the lock: the device may end operations meanwhile, and these call functions of this
// class. Waiters for the entries are woken after the release, as they may need the memory.
void DataEnvironment::finish_end(const Items& items, Plan& plan) {
  report_entries(Memory::kRelease, device_, plan.entries, items.reported);
  if (plan.entries.is_empty()) return;
  {
    Guard guard(lock_);
    for (MapEntry* entry : plan.entries) {
      if (!entry->is_off_list) table_.take_off(entry);
    }
  }
  bool is_in_flight = plan.in_flight.leaves;  // else all entries are transient maps, which are in flight by `own`
  for (MapEntry* entry : plan.entries.take_all()) {
    table_.storage().release(entry);
    if (entry->is_transient()) {
      Guard guard(lock_);
      table_.end_in_flight(entry->own);
    }
    destroy(entry);
  }
  if (!is_in_flight) return;
  Guard guard(lock_);
  table_.end_in_flight(plan.in_flight);
}

void DataEnvironment::release_created(Plan& plan) {
  for (MapEntry* entry : plan.entries.take_all()) table_.release(entry);
}

void DataEnvironment::update(const Items& items) {
  if (is_shared_) return;
  run_mappers(items, [this](const Items& all) {
    Plan plan;
    lock_for(all);
    plan.construct = table_.begin_construct(all);
    plan.update(table_, all);
    lock_.release();
    make_copies(device_, plan.copies, true, all.reported);
    make_copies(device_, plan.copies_back, false, all.reported);
  });
}

// The items that the construct itself names, with the device's addresses. Items that a mapper makes are not reported.
void DataEnvironment::report_maps(const Items& items, bool ends) {
  if (items.reported == nullptr || !is_reported(MARLINE_ON_MAP)) return;
  constexpr int kKinds = 7;  // bits of ompt_target_t, without nowait
  bool is_exit = (items.reported->construct.kind & kKinds) == static_cast<int>(ConstructKind::kExitData);
  if (ends && !is_exit) return;  // the maps were reported at the construct's begin
  List<void*, 8> host, device;
  List<size_t, 8> bytes;
  List<unsigned, 8> flags;
  for (int32_t i = 0; i < items.count; ++i) {
    uint64_t type = items.types[i];
    if (!has_data(type) || (type & kNonContiguous) != 0 || has_mapper(items, i)) continue;
    host.push(items.begins[i]);
    device.push(reinterpret_cast<void*>(translate(items.begins[i], bytes_of(items, i))));
    bytes.push(bytes_of(items, i));
    flags.push(flags_of(type, ends));
  }
  if (host.count() == 0) return;
  marline_construct_maps(&items.reported->construct, host.count(), host.begin(), device.begin(), bytes.begin(),
                         flags.begin());
}

uint64_t DataEnvironment::translate(const void* host, size_t bytes) {
  if (is_shared_) return address_of(host);
  Guard guard(lock_);
  MapEntry* entry = table_.find(address_of(host), bytes);
  if (entry == nullptr && bytes != 0) entry = table_.find(address_of(host), 0);  // implicit maps may cover less
  return entry != nullptr ? entry->on_device(address_of(host)) : 0;
}

bool DataEnvironment::is_permanent(const void* host) {
  Guard guard(lock_);
  const MapEntry* entry = table_.find(address_of(host), 1);
  return entry != nullptr && entry->counts.is_permanent();
}

void DataEnvironment::add_permanent(const void* host, size_t bytes, uint64_t address, bool associated) {
  auto* entry = make<MapEntry>("the list of mapped data");
  entry->begin = address_of(host);
  entry->end = entry->begin + bytes;
  entry->address = address;
  entry->associated = associated;
  entry->counts.make_permanent();
  table_.insert(entry);
}

bool DataEnvironment::add_global(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  if (table_.first_overlap(address_of(host), bytes) != nullptr) return false;
  add_permanent(host, bytes, address, false);
  return true;
}

// A construct of another thread may be attaching a pointer in the entry, though the library is being closed. The thread
// that closes the library must not wait, so the entry is only taken off the list then; its few bytes are not freed.
void DataEnvironment::remove_global(const void* host) {
  Guard guard(lock_);
  MapEntry* entry = table_.first_overlap(address_of(host), 0);
  bool is_global = entry != nullptr && entry->counts.is_permanent() && !entry->associated;
  if (!is_global || entry->begin != address_of(host)) return;
  table_.take_off(entry);
  if (entry->in_flight == nullptr) table_.release(entry);
}

bool DataEnvironment::associate(const void* host, size_t bytes, uint64_t address) {
  Guard guard(lock_);
  if (MapEntry* known = table_.first_overlap(address_of(host), bytes)) {
    return known->associated && known->begin == address_of(host) && known->bytes() == bytes &&
           known->address == address;
  }
  add_permanent(host, bytes, address, true);
  count_association(device_, address);
  return true;
}

bool DataEnvironment::disassociate(const void* host) {
  Guard guard(lock_);
  MapEntry* entry = table_.first_overlap(address_of(host), 0);
  if (entry == nullptr || !entry->associated || entry->begin != address_of(host)) return false;
  if (entry->counts.total() != 0 || entry->in_flight != nullptr) return false;
  discount_association(device_, entry->address);
  table_.take_off(entry);
  table_.release(entry);
  return true;
}

}  // namespace marline::offload::data
