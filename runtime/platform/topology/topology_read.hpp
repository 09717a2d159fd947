// SPDX-License-Identifier: Apache-2.0
//
// Reading a Topology: this machine from /sys (topology_sysfs.hpp) or, where that does not say enough, through hwloc; a
// described machine through hwloc. Any thread; no state.
#pragma once

#include "platform/topology/topology.hpp"

namespace marline {

// This machine, cut to what the calling thread may run on; or, whole, the one that hwloc's own environment variables
// describe instead. False if hwloc cannot read it; `reason` then says why.
bool topology_read(Topology& result, const char*& reason);

// Another machine: an hwloc synthetic description ("pack:2 core:4 pu:2") or the path of an XML export. `allowed` null:
// all of it.
bool topology_read_description(const char* synthetic, const char* xml_path, const CpuMask* allowed, Topology& result,
                               const char*& reason);

}  // namespace marline
