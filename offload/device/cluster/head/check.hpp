// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_CLUSTER_WRITES=check, in the program: sends to a node the ranges that a kernel's depend clauses name, and
// prints the node's findings, which are bytes that the kernel has written outside of these ranges, or that another
// kernel has written, too. It also prints pairs
// of constructs that use each other's data without an order. Called under the lock of node 0, except for end_check and
// where a comment says otherwise.
#pragma once

#include "device/contract/device.hpp"
#include "device/contract/unordered.hpp"
#include "device/cluster/protocol/frames.hpp"
#include "device/cluster/head/memory.hpp"

namespace marline::offload::device {

// A kernel in flight whose writes are checked.
struct CheckedKernel;

[[nodiscard]] CheckedKernel* make_checked(const Launch& launch, ClusterMemory& memory);
void free_checked(CheckedKernel* kernel);

// Appends to a task's message whether the kernel's depend clauses are known, and the ranges that they name.
void write_checked(const CheckedKernel& kernel, BlobWriter& to);

// Prints one line for each region and buffer. `node`: the node that found it.
void report_finding(const CheckedKernel& kernel, const ClusterBuffer& buffer, const CheckFinding& finding, int node);

// Prints one line for each pair of constructs in the source. Called by the thread that submits.
void report_unordered(const UnorderedPair& pair);

// Called at the program's end. Ends the program with status 123 if anything was found.
void end_check();

}  // namespace marline::offload::device
