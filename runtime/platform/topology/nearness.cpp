// SPDX-License-Identifier: Apache-2.0
//
// Computes the paths of places through the machine, and the order of victims.
#include "platform/topology/nearness.hpp"

#include <cstdlib>

#include "base/check.hpp"

namespace marline {
namespace {

int16_t object_with(const MaskList& objects, int cpu) {
  for (int i = 0; i < objects.count; ++i) {
    if (objects.masks[i].test(cpu)) return static_cast<int16_t>(i);
  }
  return 0;
}

PlaceLocation locate(const Topology& topology, int cpu) {
  PlaceLocation location;
  int depth = 0;
  for (int i = 0; i < topology.groups.count && depth < PlaceLocation::kDepth; ++i) {
    if (topology.groups.masks[i].test(cpu)) location.path[depth++] = static_cast<int16_t>(i);
  }
  while (depth < PlaceLocation::kDepth) location.path[depth++] = -1;
  for (int level = 0; level < kLevels; ++level) location.domain[level] = object_with(topology.level[level], cpu);
  return location;
}

// Appends the members at one distance from the thief. Of the thief and the members that are nearer to it, `first` is
// the lowest index and `rank` the thief's position. Each of these members has another rank, and starts so many victims
// after the first victim above `first`: so each starts at a different one.
int append_rotated(const int8_t* near, int members, int thief, int at, int16_t* order) {
  int first = -1, rank = 0, before = 0, count = 0;
  for (int i = 0; i < members; ++i) {
    if (near[i] > at || i == thief) {
      if (first < 0) first = i;
      if (i < thief) ++rank;
    } else if (near[i] == at) {
      ++count;
      if (first < 0) ++before;
    }
  }
  if (count == 0) return 0;
  const int start = (before + rank) % count;
  int position = 0;
  for (int i = 0; i < members; ++i) {
    if (i == thief || near[i] != at) continue;
    order[(position++ - start + count) % count] = static_cast<int16_t>(i);
  }
  return count;
}

}  // namespace

bool locate_places(const Topology& topology, const MaskList& places, PlaceMap& result) {
  result.places = static_cast<PlaceLocation*>(calloc(static_cast<size_t>(places.count) + 1, sizeof(PlaceLocation)));
  if (result.places == nullptr) return false;
  result.count = places.count;
  for (int i = 0; i < places.count; ++i) result.places[i] = locate(topology, places.masks[i].first());
  for (int level = 0; level < kLevels; ++level) {
    const int count = topology.level[level].count;
    result.domains[level] = count > 0 ? count : 1;  // a machine that could not be read is one object
  }
  return true;
}

void place_map_free(PlaceMap& map) {
  free(map.places);
  map = {};
}

int nearness(const PlaceMap& map, int place, int other) {
  if (place == other) return PlaceLocation::kDepth + 1;
  const int16_t* a = map.places[place].path;
  const int16_t* b = map.places[other].path;
  int shared = 0;
  while (shared < PlaceLocation::kDepth && a[shared] >= 0 && a[shared] == b[shared]) ++shared;
  return shared;
}

void victim_order(const PlaceMap& map, const int* places, int members, int thief, int16_t* order) {
  if (members > kMostMembers) fatal("no order of victims for a team of %d threads: at most %d", members, kMostMembers);
  int8_t near[kMostMembers];
  for (int i = 0; i < members; ++i) near[i] = static_cast<int8_t>(nearness(map, places[thief], places[i]));
  int filled = 0;
  for (int at = PlaceLocation::kDepth + 1; at >= 0; --at) {
    filled += append_rotated(near, members, thief, at, order + filled);
  }
}

}  // namespace marline
