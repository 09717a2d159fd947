// SPDX-License-Identifier: Apache-2.0
//
// KMP_HW_SUBSET, as in LLVM's runtime: the part of the machine that a process may use, e.g. `1s,4c,1t` (one hardware
// thread of each of four cores of one socket) or `2c@4` (two cores of each socket, after skipping the first four).
#pragma once

#include "../common/text.hpp"
#include "platform/topology/topology.hpp"

namespace marline {

// A pure function. Layers are s (socket), n (NUMA domain), ll (last-level cache), c (core) and t (hardware thread), in
// any order. An item is COUNT LAYER [@ OFFSET], counted within each object of the next larger layer; layers that are
// not named are whole. If the text begins with `:`, a layer is counted within the next larger layer that is named.
// False: the text is malformed or asks for more than the machine has.
bool hw_subset(const char* text, const Topology& topology, CpuMask& result, Text& reason);

// Binds the calling thread, and so all threads that it starts, to the subset that the environment asks for. Called
// while the library is loaded, before CPUs are counted; only the first call has an effect.
void keep_to_hw_subset();

// Reduces a topology to the subset, unless the process is bound to the subset already.
void cut_to_hw_subset(Topology& topology);

}  // namespace marline
