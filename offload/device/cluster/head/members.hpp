// SPDX-License-Identifier: Apache-2.0
//
// The members of a cluster, one for each worker: processors, GPUs, or both kinds. These functions run in the program.
#pragma once

#include "device/contract/device.hpp"

namespace marline::offload::device {

// A member's kind for the placement (Member::kind).
enum class MemberKind : uint32_t { kProcessor, kGpu };
// The kind's bit in a set of kinds (NewTask::kinds).
[[nodiscard]] constexpr uint32_t bit_of(MemberKind kind) { return 1u << static_cast<uint32_t>(kind); }

[[nodiscard]] MemberKind kind_of_member(const Device* member);
// The number of members of this kind.
[[nodiscard]] int count_members(const Device* device, MemberKind kind);

// Describes the cluster as one device, by the facts that all members have in common.
void describe_cluster(DeviceFacts& facts);

// End the program if the members are not the job's workers, each as one device and in their order: node k of the
// cluster must be process k of the job. refuse_other_worker is called after the member's start.
void refuse_unfit_members(const Device* device);
void refuse_other_worker(const Device* device, int member);

// The address range of the cluster's memory. `limit`: how many bytes of it each node has room for.
struct ClusterRoom {
  uint64_t begin, bytes, limit;
};
// All members must be started. May suspend.
[[nodiscard]] ClusterRoom room_of_cluster(const Device* device);

// Measures how many nanoseconds the copy of a byte from a member takes; returns at least `least`. May suspend.
[[nodiscard]] double measure_links(const Device* device, double least);

}  // namespace marline::offload::device
