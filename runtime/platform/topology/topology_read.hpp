// SPDX-License-Identifier: Apache-2.0
//
// Reads a Topology: this machine from /sys (topology_sysfs.hpp) or, if that is not enough, through hwloc; a described
// machine through hwloc. Any thread; no state.
#pragma once

#include "platform/topology/topology.hpp"

namespace marline {

// This machine, reduced to the CPUs on which the calling thread may run; or the whole machine that hwloc's own
// environment variables describe instead. False: hwloc cannot read it; `reason` gets the explanation.
bool topology_read(Topology& result, const char*& reason);

// Another machine: an hwloc synthetic description ("pack:2 core:4 pu:2") or the path of an XML export. `allowed` null:
// all of its CPUs.
bool topology_read_description(const char* synthetic, const char* xml_path, const CpuMask* allowed, Topology& result,
                               const char*& reason);

}  // namespace marline
