// SPDX-License-Identifier: Apache-2.0
//
// Placement, as pure functions. From a topology and OMP_PLACES: places. From places and a policy: a place for each
// thread of a team. So machines that we do not have are tested by their descriptions. Only process_places has state:
// the first thread that calls it computes the places, which are constant from then on.
#pragma once

#include "config/options.hpp"
#include "../common/text.hpp"
#include "platform/topology/nearness.hpp"
#include "platform/topology/topology.hpp"

namespace marline {

using Places = MaskList;

// Reads an OMP_PLACES value (OpenMP 5.1, 6.5). Empty text means cores. CPUs that the process may not use are left out,
// and so are places without a usable CPU. False: the text is malformed or no place is left; `reason` gets the
// explanation.
bool places_parse(const char* text, const Topology& topology, Places& result, Text& reason);

// The same for another runtime's variable, of a kind other than kPlaces; it is well-formed (config/foreign_table.hpp).
// False: no CPU of a list may be used, or memory is exhausted.
bool places_for_affinity(const Options::Affinity& affinity, const Topology& topology, Places& result, Text& reason);

// Where a thread of a team runs: its place, and the part of the place list that its own nested regions may use.
struct PlaceAssignment {
  int place;
  int partition_first;
  int partition_count;
};

// Assigns places to `threads` threads (OpenMP 5.1, 2.6.2) within the partition [first, first + count) of the place
// list. `parent_place` is the encountering thread's place; a negative one counts as the partition's first place.
// kBound, for which the standard leaves the policy to the implementation, is spread. kInOrder is close, but with more
// threads than places it assigns places cyclically rather than packing threads.
void places_assign(ProcBind policy, int first, int count, int parent_place, int threads, PlaceAssignment* result);

// The places of this process by OMP_PLACES, or by another variable with the same meaning. An unusable value is reported
// once, and cores are used. Must be called first before any thread is bound, because the caller's affinity is taken as
// the CPUs that the process may use.
const Places& process_places();

// The positions of the places. places_can_be_bound: whether threads can be bound to them, which is not the case for a
// machine that hwloc only has a description of.
const PlaceMap& process_place_map();
bool places_can_be_bound();

// Appends "0-3,8" to `out`.
void show_cpus(Text& out, const CpuMask& mask);

}  // namespace marline
