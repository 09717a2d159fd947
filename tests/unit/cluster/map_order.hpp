// SPDX-License-Identifier: Apache-2.0
//
// Finds pairs of constructs that are not ordered although the result depends on which of them runs first. DataMap takes
// reference counts in the order of creation, so without this check such a program would be wrong without a message. A
// pure state machine that gets each construct after DataMap, in the order of creation. The caller knows the program's
// dependences and ends: `order.is_before(a, b)`: task b is ordered after a, or a has ended; `order.has_ended(a)`.
#pragma once

#include "base/id_table.hpp"
#include "cluster/data_map.hpp"

namespace marline::offload::cluster {

enum class MapConflictKind : uint8_t {
  kNone,
  kUnorderedUse,   // `task` uses data that `other` maps, and is not ordered after it
  kUnorderedEnd,   // `task` ends a mapping that `other` uses, and is not ordered after it
  kUnorderedCopy,  // both copy overlapping bytes of variables, at least one of them to the variables
  kPartlyMapped,   // `task` maps bytes of which `other` has mapped some
};

struct MapConflict {
  MapConflictKind kind = MapConflictKind::kNone;
  TaskNumber task = 0, other = 0;
  uint64_t address = 0, bytes = 0;  // of `task`'s item, on the host
};

// One line without a name in front: what the two tasks do, and what to do about it.
void describe_conflict(const MapConflict& conflict, char* text, size_t capacity);

class MapOrder {
 public:
  // The construct `task` enters, leaves or finds what `change` names; a copy, if one is made, is `out` to the
  // variables, or from them. Returns the first conflict that it finds.
  template <class Order>
  MapConflict note(TaskNumber task, const MapChange& change, bool out, const Order& order);
  // DataMap has refused the item.
  [[nodiscard]] MapConflict refuse(TaskNumber task, const MapItem& item, const MapChange& with);

 private:
  struct Mapping {
    uint64_t number = 0;  // number of the buffer
    TaskNumber made_by = 0;
    List<TaskNumber> users;  // ended tasks are removed when the list has doubled: at most twice the unfinished tasks
    size_t limit = 8;
  };
  struct Copy {
    uint64_t address, end;
    TaskNumber task;
    bool out;
  };

  template <class Order>
  static void note_user(Mapping& mapping, TaskNumber task, const Order& order);

  IdTable<Mapping> mappings_;
  List<Copy> copies_;  // copies in flight; each new copy is checked against all
};

template <class Order>
MapConflict MapOrder::note(TaskNumber task, const MapChange& change, bool out, const Order& order) {
  MapConflict conflict = {MapConflictKind::kNone, task, 0, change.address, change.range.bytes};
  auto find = [&](MapConflictKind kind, TaskNumber other) {
    if (conflict.kind != MapConflictKind::kNone || other == task || order.is_before(other, task)) return;
    conflict.kind = kind;
    conflict.other = other;
  };
  Mapping* mapping = mappings_.find(change.range.buffer);
  if (mapping == nullptr) {
    mapping = &mappings_.add(change.range.buffer);
    mapping->made_by = task;
  }
  find(MapConflictKind::kUnorderedUse, mapping->made_by);
  if (change.is_gone) {
    for (TaskNumber user : mapping->users) find(MapConflictKind::kUnorderedEnd, user);
    mappings_.erase(mapping);
  } else {
    note_user(*mapping, task, order);
  }
  if (!change.is_copied) return conflict;
  uint64_t end = change.address + change.range.bytes;
  for (size_t i = copies_.count(); i-- > 0;) {
    const Copy& copy = copies_[i];
    if (order.has_ended(copy.task)) {
      copies_.erase(i);
    } else if (copy.address < end && change.address < copy.end && (out || copy.out)) {
      find(MapConflictKind::kUnorderedCopy, copy.task);
    }
  }
  copies_.push({change.address, end, task, out});
  return conflict;
}

template <class Order>
void MapOrder::note_user(Mapping& mapping, TaskNumber task, const Order& order) {
  mapping.users.push(task);
  if (mapping.users.count() < mapping.limit) return;
  for (size_t i = mapping.users.count(); i-- > 0;) {
    if (order.has_ended(mapping.users[i])) mapping.users.erase(i);
  }
  mapping.limit = 2 * mapping.users.count() + 8;
}

}  // namespace marline::offload::cluster
