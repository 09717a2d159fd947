// SPDX-License-Identifier: Apache-2.0
//
// Describes a cluster by the facts that its members have in common, finds addresses that are free on all members, and
// measures the speed of the links to them.
#include "device/cluster/head/members.hpp"

#include "base/report.hpp"
#include "base/now.hpp"
#include "device/remote/program/remote_device.hpp"
#include "device/remote/program/link.hpp"
#include "device/remote/worker/worker_devices.hpp"
#include "device/processor/window.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace marline::offload::device {

namespace {

constexpr uint64_t kClusterAlignment = 4096;

// Keeps the text if it is equal to `other`, else clears it.
template <size_t kBytes>
void keep_common(char (&text)[kBytes], const char (&other)[kBytes]) {
  if (std::strcmp(text, other) != 0) text[0] = '\0';
}

// The memory of the member of this kind that has the least.
uint64_t least_memory(const Device* device, MemberKind kind) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < device->member_count; ++i) {
    const Device* member = device->members[i];
    if (kind_of_member(member) != kind) continue;
    DeviceFacts facts;
    member->kind->describe(member->index, facts);
    least = std::min(least, facts.memory);
  }
  return least;
}

// Buffers have addresses that all GPUs' pools have in common, so that pointers in data are valid on each GPU. The
// second half of the range is for the addresses by which the program knows variables (ClusterMemory).
ClusterRoom room_on_gpus(const Device* device) {
  uint64_t begin = 0, end = UINT64_MAX;
  for (int i = 0; i < device->member_count; ++i) {
    if (kind_of_member(device->members[i]) != MemberKind::kGpu) continue;
    auto* member = static_cast<Node*>(device->members[i]->state);
    uint64_t at = ask_node(member, frame_of(NodeFrame::kPool, 0), "first answer");
    begin = std::max(begin, at);
    end = std::min(end, at + ask_node(member, frame_of(NodeFrame::kPool, 1), "first answer"));
  }
  begin = (begin + kClusterAlignment - 1) & ~(kClusterAlignment - 1);
  if (begin < end) return {begin, 2 * (end - begin), end - begin};
  fatal(
      "device %d (cluster): the memories of the workers' GPUs have no addresses in common; use --devices=nodes with "
      "MARLINE_NODE_DEVICES=gpus",
      device->number);
}

// Processors have their memory at the GPUs' addresses. In every worker, the addresses of the cluster's part of the
// window are free.
ClusterRoom room_on_both(const Device* device) {
  ClusterRoom room = room_on_gpus(device);
  uint64_t offset = room.begin - part_of(device);
  if (offset >= kPart / 2) {
    fatal(
        "device %d (cluster): the driver of the workers' GPUs does not give addresses that processors can have, too; "
        "use --devices=cluster:gpu",
        device->number);
  }
  room.limit = std::min({room.limit, kPart / 2 - offset, least_memory(device, MemberKind::kProcessor)});
  room.bytes = std::min(room.bytes, kPart - 2 * offset);
  return room;
}

// Measures a copy from the member in nanoseconds. Returns the shortest of several times.
double time_of_copy(Device* member, char* to, uint64_t address, size_t bytes) {
  constexpr int kTimes = 3;
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTimes; ++i) {
    uint64_t begin = now();
    member->kind->read(member, to, address, bytes);
    shortest = std::min(shortest, now() - begin);
  }
  return static_cast<double>(shortest);
}

}  // namespace

MemberKind kind_of_member(const Device* member) {
  return member->kind->job_part == JobPart::kGpu ? MemberKind::kGpu : MemberKind::kProcessor;
}

int count_members(const Device* device, MemberKind kind) {
  int count = 0;
  for (int i = 0; i < device->member_count; ++i) count += kind_of_member(device->members[i]) == kind ? 1 : 0;
  return count;
}

// With MARLINE_NODE_DEVICES a worker may have no GPU, or several; `refuse_unfit_members` refuses that.
void describe_cluster(DeviceFacts& facts) {
  int members = 0, gpus = 0;
  for (int i = 0, all = node_device_count(); i < all; ++i) {
    if (!is_cluster_member(node_device_is_gpu(i))) continue;
    DeviceFacts other;
    describe_node_device(i, other);
    gpus += other.is_gpu ? 1 : 0;
    if (members++ == 0) {
      facts = other;
      continue;
    }
    facts.memory = std::min(facts.memory, other.memory);
    facts.units += other.units;
    keep_common(facts.arch, other.arch);
    keep_common(facts.isa, other.isa);
    keep_common(facts.vendor, other.vendor);
  }
  if (members == 0)
    end_by_options("MARLINE_DEVICES names cluster:gpu, and no worker has a GPU: see MARLINE_NODE_DEVICES");
  if (cluster_members() == ClusterOf::kAll && gpus == 0) {
    warn(
        "MARLINE_DEVICES names cluster:all, and no worker has a GPU for which the program has code: all members are "
        "processors; "
        "with OMP_DISPLAY_ENV=verbose workers say why");
  }
  facts.is_gpu = gpus == members;
  const char* what = facts.is_gpu ? "GPU" : "node";
  int length =
      std::snprintf(facts.name, sizeof facts.name, "%d %s%s as one device", members, what, members == 1 ? "" : "s");
  if (gpus != 0 && gpus != members) {
    std::snprintf(facts.name + length, sizeof facts.name - static_cast<size_t>(length), ", %d of them GPU%s", gpus,
                  gpus == 1 ? "" : "s");
  }
  std::snprintf(facts.uid, sizeof facts.uid, "cluster");
  facts.numa_domain = -1;
}

void refuse_unfit_members(const Device* device) {
  int workers = worker_count();
  if (device->member_count != workers) {
    end_by_options(
        "device %d (cluster) needs each of the job's %d workers as one device, but there are %d: leave "
        "MARLINE_NODE_DEVICES "
        "unset, and the workers in OMP_AVAILABLE_DEVICES",
        device->number, workers, device->member_count);
  }
}

void refuse_other_worker(const Device* device, int i) {
  int peer = static_cast<const Node*>(device->members[i]->state)->peer;
  if (peer == i + 1) return;
  end_by_options(
      "device %d (cluster) needs each worker as one device, but number %d of them is of process %d: leave "
      "MARLINE_NODE_DEVICES unset, and the workers in OMP_AVAILABLE_DEVICES",
      device->number, i + 1, peer);
}

ClusterRoom room_of_cluster(const Device* device) {
  int gpus = count_members(device, MemberKind::kGpu);
  if (gpus == 0) return {part_of(device), kPart, least_memory(device, MemberKind::kProcessor)};
  return gpus == device->member_count ? room_on_gpus(device) : room_on_both(device);
}

// The placement weighs the time of moving data against the times of regions. Only two members are measured, as this
// takes 4 ms at 100 MB/s and less than half a millisecond at 1 GB/s.
double measure_links(const Device* device, double least) {
  constexpr int kMembers = 2;
  constexpr size_t kBytes = 64 << 10, kFew = 64;
  static char data[kBytes];
  double slowest = least;
  for (int i = 0; i < std::min(kMembers, device->member_count); ++i) {
    Device* member = device->members[i];
    uint64_t address = member->kind->allocate(member, kBytes);
    if (address == 0) continue;
    double few = time_of_copy(member, data, address, kFew);
    double all = time_of_copy(member, data, address, kBytes);
    slowest = std::max(slowest, (all - few) / static_cast<double>(kBytes - kFew));
    member->kind->release(member, address);
  }
  return slowest;
}

}  // namespace marline::offload::device
