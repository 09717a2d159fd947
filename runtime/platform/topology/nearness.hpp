// SPDX-License-Identifier: Apache-2.0
//
// Distances between places, as pure functions. From a topology and places: the position of each place in the machine.
// From positions and the places of a team's members: the order in which each member tries the others' queues. The
// position of a place with several CPUs is that of its first CPU.
#pragma once

#include "platform/topology/topology.hpp"

#include <cstdint>

namespace marline {

struct PlaceLocation {
  static constexpr int kDepth = 12;
  // The groups (Topology::groups) that contain the place, the machine first; then -1.
  int16_t path[kDepth];
  int16_t domain[kLevels];  // at each level, the object that contains the place
};

struct PlaceMap {
  PlaceLocation* places = nullptr;  // one per place, on the heap
  int count = 0;
  int domains[kLevels] = {};  // objects at each level
};

// False if memory is exhausted.
[[nodiscard]] bool locate_places(const Topology& topology, const MaskList& places, PlaceMap& result);
void place_map_free(PlaceMap& map);

// How much two places share: a larger value means nearer. The maximum is for a place and itself.
int nearness(const PlaceMap& map, int place, int other);

// The other members of a team in the order in which `thief` steals from them: nearest first. `places[i]`: the place of
// member i. Members at the same distance follow by index, but each of their thieves starts at a different one, so that
// thieves do not all meet at one victim. `order` gets members - 1 numbers.
inline constexpr int kMostMembers = 4096;
void victim_order(const PlaceMap& map, const int* places, int members, int thief, int16_t* order);

}  // namespace marline
