// SPDX-License-Identifier: Apache-2.0
//
// The members of a cluster, one for each worker: processors, GPUs, or some of each, and what they have in common. In
// the program.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// As Placement has it (Member::kind).
enum class MemberKind : uint32_t { kProcessor, kGpu };
// In sets of kinds (NewTask::kinds).
[[nodiscard]] constexpr uint32_t bit_of(MemberKind kind) { return 1u << static_cast<uint32_t>(kind); }

[[nodiscard]] MemberKind kind_of_member(const Device* member);
// Of members of this device that are of the kind.
[[nodiscard]] int count_members(const Device* device, MemberKind kind);

// Facts of the device that they are together.
void describe_cluster(DeviceFacts& facts);

// End the program if they are not each worker as one device, in their order: node k of the cluster is process k of the
// job. The second one behind the member's start.
void refuse_unfit_members(const Device* device);
void refuse_other_worker(const Device* device, int member);

// The cluster's memory: its addresses, and how much of it each node has room for. All members are started; may suspend.
struct ClusterRoom {
  uint64_t begin, bytes, limit;
};
[[nodiscard]] ClusterRoom room_of_cluster(const Device* device);

// Nanoseconds that a byte takes to come from a member, but no less than `least`. May suspend.
[[nodiscard]] double measure_links(const Device* device, double least);

}  // namespace marline::offload::device
