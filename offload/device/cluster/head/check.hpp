// SPDX-License-Identifier: Apache-2.0
//
// MARLINE_CLUSTER_WRITES=check, in the program: what a kernel's task names travels to its node, and what the node finds
// beside that is reported, as are constructs that use each other's data without an order. Under the lock of node 0, but
// for the end, and where it says otherwise.
#pragma once

#include "device/contract/device.hpp"
#include "device/contract/unordered.hpp"
#include "device/cluster/protocol/frames.hpp"
#include "device/cluster/head/memory.hpp"

namespace marline::offload::device {

// A kernel whose writes are checked, until it has ended.
struct CheckedKernel;

[[nodiscard]] CheckedKernel* make_checked(const Launch& launch, ClusterMemory& memory);
void free_checked(CheckedKernel* kernel);

// Behind the task, for its node: whether it names anything, and what.
void write_checked(const CheckedKernel& kernel, BlobWriter& to);

// One line for each region and piece of memory. `node`: where it was found.
void report_finding(const CheckedKernel& kernel, const ClusterBuffer& buffer, const CheckFinding& finding, int node);

// One line for each pair of places. By the thread that hands over.
void report_unordered(const UnorderedPair& pair);

// At the program's end. Ends it with another status if there are findings.
void end_check();

}  // namespace marline::offload::device
