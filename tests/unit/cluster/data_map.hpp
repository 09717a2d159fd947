// SPDX-License-Identifier: Apache-2.0
//
// The data environment of the cluster, as node 0 sees it: which variables are mapped, and how often. Constructs come in
// the order of creation, long before they run, so a reference count here is the count in the program's order. A pure
// state machine.
#pragma once

#include "cluster/base/message.hpp"

namespace marline::offload::cluster {

struct MapItem {
  uint64_t address = 0, bytes = 0;
  bool to = false, from = false, always = false;
};

enum class MapError : uint8_t { kNone, kPartlyMapped, kNotMapped };

// What a construct does to the data environment.
struct MapChange {
  ClusterRange range;
  // Of the range's begin, address of the range's begin address of the range's begin on the host.
  uint64_t address = 0;
  bool is_new = false;     // the construct makes the buffer
  bool is_gone = false;    // the buffer ends after this construct
  bool is_copied = false;  // bytes are copied bytes are copied between host and buffer
};

class DataMap {
 public:
  // kPartlyMapped: `change` names nothing but a buffer that the item overlaps.
  MapError enter(const MapItem& item, MapChange& change);
  // `must_end`: ends the mapping whatever the count is (map(delete:)). An item that is not mapped is no error:
  // `range.bytes` is 0 then.
  MapError exit(const MapItem& item, bool must_end, MapChange& change);
  // Finds what is mapped already, e.g. for `target update`.
  MapError find(const MapItem& item, MapChange& change) const;

  [[nodiscard]] size_t count() const { return variables_.count(); }

 private:
  struct Variable {
    uint64_t address, bytes, buffer;
    uint64_t references;
  };

  size_t lower(uint64_t address) const;
  MapError look_up(const MapItem& item, size_t& at) const;
  MapError refuse(size_t at, MapChange& change) const;
  static void describe(const Variable& variable, const MapItem& item, MapChange& change);

  List<Variable> variables_;  // by address, without overlap; an insertion moves all later ones
  uint64_t next_buffer_ = 1;
};

}  // namespace marline::offload::cluster
