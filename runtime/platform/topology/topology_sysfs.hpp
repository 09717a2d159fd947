// SPDX-License-Identifier: Apache-2.0
//
// The machine as Linux describes it in /sys, read without hwloc. hwloc opens its plugins and, on x86, binds the thread
// to one CPU after the other: milliseconds, before the first region of a program whose threads are bound. Here each
// core, cache, package and memory node costs the reading of one file. Any thread; no state.
//
// The result is hwloc's, but for these: the cores of AMD's family 15h are its pairs of cores, as in the kernel's lists;
// memory nodes without CPUs are no domain of their own; a node's CPUs count, too, if its memory is withheld; hwloc also
// groups packages by the distances of their memory.
#pragma once

#include "platform/topology/topology.hpp"

namespace marline {

// `root` is the folder that stands for /: "" is this system, tests have others. Only the CPUs that are `allowed` are
// read about; the kernel's answer to sched_getaffinity has only those that are online and in the process's cpuset.
// False if /sys does not say enough (no lists of cores), or contradicts itself: then hwloc must look.
[[nodiscard]] bool topology_read_sysfs(const char* root, const CpuMask& allowed, Topology& result);

}  // namespace marline
