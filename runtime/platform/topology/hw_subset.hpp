// SPDX-License-Identifier: Apache-2.0
//
// KMP_HW_SUBSET, as in LLVM's runtime: the part of the machine that a process may use, e.g. `1s,4c,1t` (one hardware
// thread of each of four cores of one socket) or `2c@4` (two cores of each socket, after skipping the first four).
#pragma once

#include "config/text.hpp"
#include "platform/topology/topology.hpp"

namespace marline {

// A pure function. Layers are s (socket), n (NUMA domain), ll (last-level cache), c (core) and t (hardware thread), in
// any order, each COUNT LAYER [@ OFFSET] of what contains it; layers that are left out are whole. With `:` in front, a
// layer is counted within the next larger one that is named. False if the text is malformed or asks for more than there
// is.
bool hw_subset(const char* text, const Topology& topology, CpuMask& result, Text& reason);

// Binds the calling thread, and thereby those that it starts, to the subset that the environment asks for. While the
// library is loaded, before CPUs are counted; the first call counts.
void keep_to_hw_subset();

// Cuts a topology to the subset, unless the process keeps to it already.
void cut_to_hw_subset(Topology& topology);

}  // namespace marline
