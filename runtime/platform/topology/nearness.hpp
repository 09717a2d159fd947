// SPDX-License-Identifier: Apache-2.0
//
// Distances between places, as pure functions: topology + places -> the position of each place in the machine;
// positions + the places of a team's members -> the order in which each member looks at the others' queues. The
// position of a place with several CPUs is that of its first CPU.
#pragma once

#include "platform/topology/topology.hpp"

#include <cstdint>

namespace marline {

struct PlaceLocation {
  static constexpr int kDepth = 12;
  int16_t path[kDepth];     // the groups (Topology::groups) around it, the machine first; -1 behind the last
  int16_t domain[kLevels];  // the object at each level that it is in
};

struct PlaceMap {
  PlaceLocation* places = nullptr;  // one per place, on the heap
  int count = 0;
  int domains[kLevels] = {};  // objects at each level
};

// False if memory is exhausted.
[[nodiscard]] bool locate_places(const Topology& topology, const MaskList& places, PlaceMap& result);
void place_map_free(PlaceMap& map);

// How much two places share: the larger, the nearer. The most is for a place and itself.
int nearness(const PlaceMap& map, int place, int other);

// The other members of a team in the order in which `thief` steals from them: nearest first. `places[i]`: of member i.
// Those equally near come by index, from a different one for each of their thieves, so that not all meet at one victim.
// `order` gets members - 1 numbers.
inline constexpr int kMostMembers = 4096;
void victim_order(const PlaceMap& map, const int* places, int members, int thief, int16_t* order);

}  // namespace marline
