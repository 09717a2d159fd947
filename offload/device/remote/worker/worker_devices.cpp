// SPDX-License-Identifier: Apache-2.0
//
// Reads from the environment which devices this worker has to be, and makes the list of them.
#include "device/remote/worker/worker_devices.hpp"

#include "base/options.hpp"
#include "device/contract/kinds.hpp"
#include "device/remote/worker/serve_gpu.hpp"
#include "device/processor/processor.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

struct Wish {
  PartsBy by = PartsBy::kMachine;
  int shares = 1;
  bool processor = true, gpus = false;
  bool one_gpu = false;  // one GPU of the node, a different one for each of its workers as long as there are enough
  bool or_processor = false;  // the processor, if there are not enough GPUs
};

bool read_wish(Cursor& in, Wish& wish) {
  static constexpr const char* kWords[] = {"machine", "sockets", "numa"};  // by PartsBy
  wish.processor = !in.accept_word("gpus");
  if (!wish.processor) return wish.gpus = true;
  if (!read_word(in, kWords, wish.by)) {
    wish.by = PartsBy::kShares;
    if (!read_number(in, 1, kMostCpuParts, wish.shares)) return false;
  }
  wish.gpus = in.accept(',');
  return !wish.gpus || in.accept_word("gpus");
}

Wish chosen_wish() {
  ClusterOf members = cluster_members();
  if (option_value(Option::kNodeDevices) == nullptr && members != ClusterOf::kProcessors) {
    return {PartsBy::kMachine, 1, false, true, true, members == ClusterOf::kAll};
  }
  return option_as<Wish>(Option::kNodeDevices, read_wish);
}

const CheckedAtLoad g_checked(Option::kNodeDevices, [] { (void)option_as<Wish>(Option::kNodeDevices, read_wish); });

CpuPart g_parts[kMostCpuParts];
WorkerDevices g_devices;
int g_before = 0;  // workers of this node with lower numbers

// Bytes; 0: not known.
uint64_t memory_of_domain(int domain) {
  char path[64];
  std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", domain);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  unsigned long long kilobytes = 0;
  if (std::fscanf(file, "Node %*d MemTotal: %llu kB", &kilobytes) != 1) kilobytes = 0;
  std::fclose(file);
  return kilobytes * 1024;
}

// The memory of the part's domain, if the machine is divided by domains; else a share of the machine's memory, as large
// as the part's share of all parts' CPUs.
uint64_t memory_of(const Wish& wish, const CpuPart& part, int all_cpus, uint64_t memory) {
  uint64_t own = wish.by == PartsBy::kDomains && part.domain >= 0 ? memory_of_domain(part.domain) : 0;
  return own != 0 ? own : memory / static_cast<uint64_t>(all_cpus) * static_cast<uint64_t>(part.count);
}

void describe(const Wish& wish, int number, const CpuPart& part, DeviceFacts& facts) {
  facts.units = part.count;
  facts.numa_domain = part.has_own_domain ? part.domain : -1;
  const char* what = wish.by == PartsBy::kSockets ? "socket" : wish.by == PartsBy::kDomains ? "numa" : "part";
  int which = wish.by == PartsBy::kSockets ? part.socket : wish.by == PartsBy::kDomains ? part.domain : number;
  std::snprintf(facts.uid, sizeof facts.uid, "-%s%d", what, which < 0 ? number : which);
}

void add_processor(const Wish& wish) {
  int count = wish.by == PartsBy::kMachine ? 1 : divide_cpus(wish.by, wish.shares, g_parts);
  DeviceFacts facts;
  describe_processor(facts);
  const uint64_t memory = facts.memory;
  int all_cpus = 0;
  for (int i = 0; i < count; ++i) all_cpus += g_parts[i].count;
  for (int i = 0; i < count; ++i) {
    g_devices.devices[i] = {nullptr, -1, facts};
    if (wish.by == PartsBy::kMachine) continue;
    g_devices.devices[i].part = &g_parts[i];
    describe(wish, i, g_parts[i], g_devices.devices[i].facts);
    g_devices.devices[i].facts.memory = memory_of(wish, g_parts[i], all_cpus, memory);
  }
  g_devices.count = count;
}

void add_gpus(const Wish& wish) {
  const char* asked = wish.one_gpu ? "MARLINE_DEVICES names cluster:gpu" : "MARLINE_NODE_DEVICES names gpus";
  int count = open_worker_gpus(wish.or_processor ? nullptr : asked);
  if (wish.or_processor && g_before >= count) return add_processor(wish);
  int first = wish.one_gpu ? g_before % count : 0, end = wish.one_gpu ? first + 1 : count;
  for (int gpu = first; gpu < end && g_devices.count < kMostWorkerDevices; ++gpu) {
    WorkerDevice& device = g_devices.devices[g_devices.count++];
    device = {nullptr, gpu, {}};
    kLlvmKind.describe(gpu, device.facts);
    std::snprintf(device.facts.uid, sizeof device.facts.uid, "-gpu%d", gpu);
  }
}

}  // namespace

void note_workers_before(int count) { g_before = count; }

const WorkerDevices& worker_devices() {
  static bool known = false;
  if (known) return g_devices;
  known = true;
  Wish wish = chosen_wish();
  if (wish.processor) add_processor(wish);
  if (wish.gpus) add_gpus(wish);
  return g_devices;
}

void check_worker_options() { (void)chosen_wish(); }

ClusterOf cluster_members() {
  const char* text = option_value(Option::kDevices);
  if (text == nullptr) return ClusterOf::kProcessors;
  if (std::strstr(text, "cluster:gpu") != nullptr) return ClusterOf::kGpus;
  return std::strstr(text, "cluster:all") != nullptr ? ClusterOf::kAll : ClusterOf::kProcessors;
}

bool is_cluster_member(bool is_gpu) {
  ClusterOf members = cluster_members();
  return members == ClusterOf::kAll || is_gpu == (members == ClusterOf::kGpus);
}

bool expects_several_devices() {
  return option_value(Option::kNodeDevices) != nullptr || cluster_members() != ClusterOf::kProcessors;
}

}  // namespace marline::offload::device
