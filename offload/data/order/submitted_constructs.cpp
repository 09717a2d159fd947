// SPDX-License-Identifier: Apache-2.0
//
// Begins and ends early-submitted constructs. Each function takes the lock once, for all its look-ups and changes.
// Entries that a failed begin has created are released without the lock.
#include "data/order/submitted_constructs.hpp"

namespace marline::offload::data {

namespace {

using namespace map_type;

// For an entry that another construct is removing: whether the new construct is ordered after the removal, so that the
// entry does not exist for it.
bool is_over(const MapEntry* entry, const SubmissionOrder& order) {
  if (!entry->is_transient()) return entry->in_flight->is_before(order);
  for (uint64_t user : entry->counts.users()) {
    if (!order.is_after(user)) return false;
  }
  return true;
}

// Whether item i is an `always` map that copies something. Only a descriptor is not copied, if the device has the
// host's bytes. A descriptor without a map entry is mapped like any other data.
bool copies_always(const MapTable& table, const Items& items, int32_t i) {
  uint64_t type = items.types[i];
  if ((type & kAlways) == 0 || (type & (kTo | kFrom)) == 0) return false;
  if ((type & kDescriptor) == 0) return true;
  const MapEntry* entry = table.find_item(items, i);
  bool is_there = entry != nullptr && !entry->leaves();
  return is_there && !entry->descriptors.has(begin_of(items, i), bytes_of(items, i));
}

// Whether no construct has the items in flight, except early-submitted constructs that fill them.
bool is_free(const MapTable& table, const Items& items) {
  return !table.any_in_flight(items, [](const InFlight* other) { return !other->is_sent || other->leaves; });
}

void wait_for_copies(const MapTable& table, const Items& items, const SubmissionOrder& order) {
  (void)table.any_in_flight(items, [&order](const InFlight* other) {
    if (other->operation != InFlight::kNoOperation) order.also_after(order.of, other->operation);
    return false;
  });
}

// Whether a region only has to count references for the item. An entry that only other regions have references to is
// not enough: if this region is ordered after them, the entry is removed before, and the region must find the host's
// data.
bool is_there(const MapTable& table, const Items& items, int32_t i, List<MapEntry*, 8>& counted) {
  uint64_t type = items.types[i];
  if (has_no_storage(type)) return true;
  if (copies_always(table, items, i) || (type & (kReturn | kHold)) != 0) return false;
  if (has_slot(type) && !is_attached(table, items, i)) return false;
  if (!has_data(type)) return true;
  if (has_slot(type)) {
    MapEntry* of_slot = table.find_slot(items, i);
    if (of_slot == nullptr || !of_slot->counts.is_kept()) return false;
    if (maps_slot(type)) counted.push(of_slot);
  }
  MapEntry* entry = table.find_item(items, i);
  if (entry == nullptr) return items.sizes[i] == 0 && (type & kPresent) == 0;
  counted.push(entry);
  return entry->counts.is_kept();
}

// Bytes that the construct maps and that have no map entry.
struct Absent {
  uintptr_t begin;
  size_t bytes;
  uint64_t type;
};

// The begin of a construct that maps data.
class Entering {
 public:
  Entering(MapTable& table, const Items& items, const SubmissionOrder& order)
      : table_(table), items_(items), order_(order) {}

  // True: all data that the construct maps has an entry. False: nothing has changed, but plan.entries are to be
  // released.
  [[nodiscard]] bool create_entries(Plan& plan);

 private:
  bool may_enter(int32_t i);
  bool may_enter_bytes(const Absent& bytes);
  bool is_known(const Range* entry, const Absent& bytes) const;
  bool create_absent(Plan& plan);
  bool may_attach(const Plan& plan) const;

  MapTable& table_;
  const Items& items_;
  const SubmissionOrder& order_;
  List<MapEntry*, 8> gone_;  // entries that overlap the data and are removed by constructs ordered before this one
  List<Absent, 8> absent_;
};

// Whether the entry, which overlaps the bytes, serves for them: it contains all of them, or they are a region's
// implicit map, which may use only the mapped part.
bool Entering::is_known(const Range* entry, const Absent& bytes) const {
  return entry->contains(bytes.begin, bytes.begin + bytes.bytes) || (items_.of_region && (bytes.type & kImplicit) != 0);
}

// Whether the construct can map the bytes without waiting.
bool Entering::may_enter_bytes(const Absent& bytes) {
  uintptr_t begin = bytes.begin, end = begin + bytes.bytes, at = begin;
  MapEntry* entry = table_.first_overlap(begin, bytes.bytes);
  while (entry != nullptr && entry->leaves()) {
    if (begin == end) return false;
    if (!is_over(entry, order_))
      return items_.of_region && entry->is_transient() && at == begin && entry->contains(begin, end);
    gone_.push(entry);
    at = entry->end;
    entry = at < end ? table_.first_overlap(at, end - at) : nullptr;
  }
  if (entry != nullptr) {
    bool is_filled = entry->in_flight == nullptr || entry->in_flight->is_sent;
    return at == begin && is_known(entry, bytes) && entry->counts.is_kept() && is_filled;
  }
  if (begin != end) absent_.push(bytes);
  return (bytes.type & kPresent) == 0;
}

// Whether the construct can map the item without waiting.
bool Entering::may_enter(int32_t i) {
  uint64_t type = items_.types[i];
  if (has_no_storage(type)) return true;
  if (is_wanted_again(type) || copies_always(table_, items_, i) || (type & (kReturn | kHold)) != 0) return false;
  if (!has_data(type)) return true;
  if (maps_slot(type) && !may_enter_bytes({base_of(items_, i), sizeof(void*), type & kPresent})) return false;
  return may_enter_bytes({begin_of(items_, i), bytes_with_members(items_, i), type});
}

// Creates the entries that are missing. False: the device has no memory for one of them, or one overlaps another in
// part; the entries that have been created are in the plan. A member that is not reached through a pointer is a part of
// a structure that comes before it.
bool Entering::create_absent(Plan& plan) {
  for (const Absent& one : absent_) {
    if (const MapEntry* other = table_.first_overlap(one.begin, one.bytes)) {  // created for another item
      if (!is_known(other, one)) return false;
      continue;
    }
    if (is_member(one.type) && (one.type & kPointerAndObject) == 0) return false;
    Device* device = table_.device();
    if (!device->kind->early->has_room(device, one.bytes)) return false;
    if (plan.create(table_, one.begin, one.bytes, one.type) == nullptr) return false;
  }
  return true;
}

// Whether all pointers of the items can be attached now. A pointer is written only in an entry that the construct has
// created, which only the construct's copies fill. In other entries the pointer must be attached already, as concurrent
// constructs may read it. A pointer in an entry that is in flight for a waiting construct does not count as attached:
// such a construct records a pointer as attached before it writes the pointer on the device.
bool Entering::may_attach(const Plan& plan) const {
  for (int32_t i = 0; i < items_.count; ++i) {
    const MapEntry* of_slot = table_.find_slot(items_, i);
    if (of_slot == nullptr && has_slot(items_.types[i]) && has_data(items_.types[i])) return false;
    if (of_slot == nullptr || of_slot->in_flight == &plan.in_flight) continue;
    bool is_blocking = of_slot->in_flight != nullptr && !of_slot->in_flight->is_sent;
    if (is_blocking || !is_attached(table_, items_, i)) return false;
  }
  return true;
}

bool Entering::create_entries(Plan& plan) {
  for (int32_t i = 0; i < items_.count; ++i) {
    if (!may_enter(i)) return false;
  }
  plan.construct = table_.begin_construct(items_);
  for (MapEntry* entry : gone_) {
    if (!entry->is_off_list) table_.take_off(entry);
    entry->is_off_list = true;
  }
  if (!create_absent(plan) || !may_attach(plan)) {
    for (MapEntry* entry : plan.entries) table_.take_off(entry);
    for (MapEntry* entry : gone_) {
      if (entry->is_off_list) table_.insert(entry);
      entry->is_off_list = false;
    }
    return false;
  }
  for (MapEntry* entry : plan.entries) plan.filled.push(entry);
  return true;
}

// Attaches the pointers in the entries that the construct has created. In other entries they are attached already, also
// if the program wants them to be attached always.
void attach_new(MapTable& table, Plan& plan) {
  for (AttachLater one : plan.attachments) {
    one.always = false;
    plan.attach(table, one);
  }
}

// Begins a construct that maps data: `work(table)` does the rest under the lock when all data has an entry.
template <class Work>
bool enter(DataEnvironment& environment, const Items& items, Plan& plan, const SubmissionOrder& order, Work work) {
  {
    LockedTable table(environment);
    if (Entering(*table, items, order).create_entries(plan)) {
      work(*table);
      plan.entries = {};
      return true;
    }
  }
  environment.release_created(plan);
  return false;
}

// Adds the region's reference to the entry, unless the region has created the entry and is counted already.
void count_transient(MapEntry* entry, Plan& plan, uint64_t task) {
  if (!entry->counts.add(plan.construct, 0)) return;
  if (entry->is_transient()) {
    plan.shared.push(entry);
    for (uint64_t user : entry->counts.users()) plan.sharers.push(user);
  }
  entry->counts.add_user(task);
}

void use_transient(const MapTable& table, const Items& items, int32_t i, Plan& plan, const SubmissionOrder& order) {
  uint64_t type = items.types[i];
  if (has_slot(type)) plan.attachments.push(attachment_of(items, i));
  MapEntry *of_data = has_data(type) ? table.find_item(items, i) : nullptr, *of_slot = table.find_slot(items, i);
  for (MapEntry* entry : {of_data, of_slot}) {
    if (entry == nullptr) continue;
    if (entry == of_data || maps_slot(type)) count_transient(entry, plan, order.task);
    const InFlight* filler = entry->in_flight != &plan.in_flight ? entry->in_flight : nullptr;
    if (filler != nullptr && filler->operation != InFlight::kNoOperation) order.also_after(order.of, filler->operation);
  }
}

// Called after pointers are attached, as copies leave out attached pointers.
void copy_transient(const MapTable& table, const Items& items, int32_t i, Plan& plan) {
  uint64_t type = items.types[i];
  MapEntry* entry = has_data(type) ? table.find_item(items, i) : nullptr;
  if (entry == nullptr) return;
  bool is_created = entry->in_flight == &plan.in_flight, is_transient = is_created || entry->is_transient();
  if (is_created && (type & kTo) != 0) plan.copy_item(*entry, items, i);
  if (is_transient && (type & kFrom) != 0)
    copy_around(*entry, begin_of(items, i), bytes_of(items, i), plan.copies_back);
}

// A transient map is removed with the last of its regions. Called after note_in_flight, as these entries are in flight
// by their own InFlight.
void leave_transient(Plan& plan, uint64_t task) {
  for (List<MapEntry*, 8>* entries : {&plan.filled, &plan.shared}) {
    for (MapEntry* entry : *entries) {
      if (entry->counts.subtract_user(task) == 0) plan.entries.push_first(entry);
    }
  }
}

bool may_leave(const MapEntry* entry, uint64_t type, const SubmissionOrder& order) {
  if (entry == nullptr || entry->leaves()) {
    return (type & kPresent) == 0 && (entry == nullptr || is_over(entry, order));
  }
  if (entry->in_flight != nullptr && !entry->in_flight->is_before(order)) return false;
  return entry->counts.is_kept() || (type & kAlways) == 0;
}

bool may_exit(const MapTable& table, const Items& items, int32_t i, const SubmissionOrder& order) {
  uint64_t type = items.types[i];
  if (!has_data(type)) return true;
  if ((type & kHold) != 0) return false;
  if (maps_slot(type) && !may_leave(table.find_slot(items, i), 0, order)) return false;
  return may_leave(table.find_item(items, i), type, order);
}

}  // namespace

bool begin_present(DataEnvironment& environment, const Items& items, const SubmissionOrder& order) {
  LockedTable table(environment);
  if (!is_free(*table, items)) return false;
  List<MapEntry*, 8> entries;
  for (int32_t i = 0; i < items.count; ++i) {
    if (!is_there(*table, items, i, entries)) return false;
  }
  PlannedConstruct construct = table->begin_construct(items);
  for (MapEntry* entry : entries) {
    if (entry->counts.add(construct, 0)) entry->counts.add_user(order.task);
  }
  wait_for_copies(*table, items, order);
  return true;
}

// An entry that another construct has taken, and perhaps mapped anew, is not ended by the region.
bool begin_end(DataEnvironment& environment, const Items& items, Plan& plan, uint64_t task) {
  LockedTable table(environment);
  List<MapEntry*, 8> entries;
  for (int32_t i = 0; i < items.count; ++i) {
    MapEntry* of_data = has_data(items.types[i]) ? table->find_item(items, i) : nullptr;
    for (MapEntry* entry : {of_data, table->find_slot(items, i)}) {
      if (entry == nullptr || !entry->counts.has_user(task)) continue;
      bool goes = entry->counts.total() == 1 && !entry->counts.is_permanent();
      if (goes && entry->in_flight != nullptr && !entry->in_flight->leaves) return false;
      entries.push(entry);
    }
  }
  plan.construct = table->begin_construct(items);
  for (MapEntry* entry : entries) {
    if (entry->is_transient() || !entry->counts.is_first(plan.construct, 0)) continue;
    entry->counts.subtract_user(task);
    if (!entry->leaves()) plan.take_last(entry);
  }
  plan.copy_back(*table, items);
  plan.note_in_flight(*table, true);
  leave_transient(plan, task);
  return true;
}

bool begin_update(DataEnvironment& environment, const Items& items, Plan& plan, const SubmissionOrder& order) {
  LockedTable table(environment);
  if (!is_free(*table, items)) return false;
  plan.construct = table->begin_construct(items);
  plan.update(*table, items);
  wait_for_copies(*table, items, order);
  return true;
}

bool begin_enter(DataEnvironment& environment, const Items& items, Plan& plan, const SubmissionOrder& order) {
  return enter(environment, items, plan, order, [&](MapTable& table) {
    plan.add(table, items);
    attach_new(table, plan);
    plan.note_in_flight(table, false);
    plan.in_flight.note_sent(order);
  });
}

bool begin_transient(DataEnvironment& environment, const Items& items, Plan& plan, const SubmissionOrder& order) {
  return enter(environment, items, plan, order, [&](MapTable& table) {
    for (int32_t i = 0; i < items.count; ++i) use_transient(table, items, i, plan, order);
    attach_new(table, plan);
    for (int32_t i = 0; i < items.count; ++i) copy_transient(table, items, i, plan);
    for (MapEntry* entry : plan.filled) {
      entry->in_flight = &entry->own;
      entry->own.note_sent(order);
      entry->own.leaves = true;
      entry->own.bytes = entry->bytes();
      entry->counts.add_user(order.task);
      table.note_in_flight();
    }
  });
}

void note_filling(Plan& plan, uint64_t filled_by) {
  for (MapEntry* entry : plan.filled) entry->own.operation = filled_by;
}

void finish_enter(DataEnvironment& environment, Plan& plan) {
  if (plan.filled.count() == 0) return;
  LockedTable table(environment);
  for (MapEntry* entry : plan.filled) {
    if (entry->in_flight == &plan.in_flight) entry->in_flight = nullptr;
    entry->empty = false;
  }
  table->end_in_flight(plan.in_flight);
}

bool begin_exit(DataEnvironment& environment, const Items& items, Plan& plan, const SubmissionOrder& order) {
  LockedTable table(environment);
  for (int32_t i = 0; i < items.count; ++i) {
    if (!may_exit(*table, items, i, order)) return false;
  }
  plan.construct = table->begin_construct(items);
  plan.construct.order = &order;
  plan.subtract(*table, items);
  plan.construct.order = nullptr;  // `order` exists only until this function returns
  plan.note_in_flight(*table, true);
  plan.in_flight.note_sent(order);
  return true;
}

}  // namespace marline::offload::data
