// SPDX-License-Identifier: Apache-2.0
//
// NUMA nodes, as the kernel describes them: how many there are, which CPU belongs to which, and on which of them the
// process's data lies. Without state; a machine that says nothing has one node.
#ifndef MARLINE_TRACE_NUMA_HPP
#define MARLINE_TRACE_NUMA_HPP

#include <stdint.h>

namespace marline::trace {

constexpr int kMostNodes = 64;  // nodes with greater numbers are left out

// How many nodes there are.
int memory_nodes();

// The node of a CPU; -1 if the machine does not say.
int node_of_cpu(int cpu);

// Adds the bytes on each node, from an open file like /proc/self/numa_maps (numa(7)). Of mapped files only those count
// of which the process has pages of its own: the others are code and libraries, whose place is no choice of the
// program. Needs little of the stack and no memory: a thread may call it wherever it writes records.
void add_pages(int file, uint64_t (&bytes)[kMostNodes]);

}  // namespace marline::trace

#endif
