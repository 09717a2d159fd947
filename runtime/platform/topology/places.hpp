// SPDX-License-Identifier: Apache-2.0
//
// Placement, as pure functions: topology + OMP_PLACES -> places; places + policy -> a place for each thread of a team.
// So machines that we do not have are tested from their descriptions. Only process_places has state: the first thread
// that asks computes it, and it is constant from then on.
#pragma once

#include "config/options.hpp"
#include "config/text.hpp"
#include "platform/topology/nearness.hpp"
#include "platform/topology/topology.hpp"

namespace marline {

using Places = MaskList;

// Reads an OMP_PLACES value (OpenMP 5.1, 6.5). Empty text means cores. CPUs that the process may not use are left out,
// and so are places without any other. False if the text is malformed or nothing is left; `reason` then says what is
// wrong.
bool places_parse(const char* text, const Topology& topology, Places& result, Text& reason);

// The same for another runtime's variable, whose kind is not kPlaces and which is well-formed
// (config/foreign_table.hpp). False if no CPU of a list may be used, or memory is out.
bool places_for_affinity(const Options::Affinity& affinity, const Topology& topology, Places& result, Text& reason);

// Where a thread of a team runs: its place, and the part of the place list that its own nested regions may use.
struct PlaceAssignment {
  int place;
  int partition_first;
  int partition_count;
};

// Assigns places to `threads` threads (OpenMP 5.1, 2.6.2) within the partition [first, first + count) of the place
// list. `parent_place` is where the encountering thread is; a negative one counts as the partition's first place.
// kBound, where the standard leaves the policy to us, is spread; kInOrder is close that goes round instead of packing.
void places_assign(ProcBind policy, int first, int count, int parent_place, int threads, PlaceAssignment* result);

// The places of this process by OMP_PLACES, or by what stands for it; a value that cannot be used is reported once and
// cores are taken. To be called first before any thread is bound, because the caller's affinity is what the process may
// use.
const Places& process_places();

// Where they lie; and whether threads can be bound to them: not on a machine that hwloc only has a description of.
const PlaceMap& process_place_map();
bool places_can_be_bound();

// Appends "0-3,8" to `out`.
void show_cpus(Text& out, const CpuMask& mask);

}  // namespace marline
