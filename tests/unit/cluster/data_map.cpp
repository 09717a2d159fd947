// SPDX-License-Identifier: Apache-2.0
//
// Looks up, enters and removes mapped variables and counts their references.
#include "cluster/data_map.hpp"

namespace marline::offload::cluster {

// The number of the first variable that ends after the address.
size_t DataMap::lower(uint64_t address) const {
  size_t low = 0, high = variables_.count();
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (variables_[middle].address + variables_[middle].bytes <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// OpenMP 5.2, section 5.8.3: a list item that is partly mapped is an error of the program.
MapError DataMap::look_up(const MapItem& item, size_t& at) const {
  at = lower(item.address);
  if (at == variables_.count() || variables_[at].address >= item.address + item.bytes) return MapError::kNotMapped;
  const Variable& variable = variables_[at];
  bool is_inside = item.address >= variable.address && item.address + item.bytes <= variable.address + variable.bytes;
  return is_inside ? MapError::kNone : MapError::kPartlyMapped;
}

void DataMap::describe(const Variable& variable, const MapItem& item, MapChange& change) {
  change = MapChange();
  change.range = {variable.buffer, item.address - variable.address, item.bytes};
  change.address = item.address;
}

MapError DataMap::refuse(size_t at, MapChange& change) const {
  change = MapChange();
  change.range.buffer = variables_[at].buffer;
  return MapError::kPartlyMapped;
}

MapError DataMap::enter(const MapItem& item, MapChange& change) {
  size_t at;
  MapError error = look_up(item, at);
  if (error == MapError::kPartlyMapped) return refuse(at, change);
  bool is_new = error == MapError::kNotMapped;
  if (is_new) variables_.insert(at, {item.address, item.bytes, next_buffer_++, 0});
  ++variables_[at].references;
  describe(variables_[at], item, change);
  change.is_new = is_new;
  change.is_copied = item.to && (is_new || item.always);
  return MapError::kNone;
}

MapError DataMap::exit(const MapItem& item, bool must_end, MapChange& change) {
  size_t at;
  MapError error = look_up(item, at);
  change = MapChange();
  if (error == MapError::kNotMapped) return MapError::kNone;
  if (error != MapError::kNone) return refuse(at, change);
  Variable& variable = variables_[at];
  variable.references = must_end ? 0 : variable.references - 1;
  describe(variable, item, change);
  change.is_gone = variable.references == 0;
  change.is_copied = item.from && (change.is_gone || item.always);
  if (change.is_gone) variables_.erase(at);
  return MapError::kNone;
}

MapError DataMap::find(const MapItem& item, MapChange& change) const {
  size_t at;
  MapError error = look_up(item, at);
  change = MapChange();
  if (error == MapError::kPartlyMapped) return refuse(at, change);
  if (error == MapError::kNone) describe(variables_[at], item, change);
  return error;
}

}  // namespace marline::offload::cluster
