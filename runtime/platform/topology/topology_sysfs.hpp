// SPDX-License-Identifier: Apache-2.0
//
// Reads the machine from Linux's description in /sys, without hwloc. hwloc opens its plugins and, on x86, binds the
// thread to one CPU after the other, which takes milliseconds before the first region of a program with bound threads.
// Here each core, cache, package and memory node costs the reading of one file. Any thread; no state.
//
// The result is the same as hwloc's, with these exceptions: the cores of AMD's family 15h are its pairs of cores, as in
// the kernel's lists; memory nodes without CPUs are no domain of their own; a node's CPUs count even if its memory is
// withheld; hwloc also groups packages by the distances of their memory.
#pragma once

#include "platform/topology/topology.hpp"

namespace marline {

// `root` is the folder used as /: "" for this system, another one in tests. Reads only about the CPUs in `allowed`; the
// kernel's answer to sched_getaffinity has only CPUs that are online and in the process's cpuset. False: /sys does not
// say enough (no lists of cores), or contradicts itself; then the caller must use hwloc.
[[nodiscard]] bool topology_read_sysfs(const char* root, const CpuMask& allowed, Topology& result);

}  // namespace marline
