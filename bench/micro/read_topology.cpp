// SPDX-License-Identifier: Apache-2.0
//
// How long the machine's description takes to read (runtime/platform/topology/topology_sysfs.hpp, and hwloc for
// comparison): of this machine, and of a made-up one of 256 CPUs, with its files in memory. Figures: median wall time
// of a reading. A result with another number of cores ends the program.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <algorithm>
#include <functional>

#include "platform/thread.hpp"
#include "platform/topology/topology_sysfs.hpp"
#include "platform/topology/topology_read.hpp"
#include "sysfs_tree.hpp"

namespace {

using marline::CpuMask;
using marline::Topology;

double now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

// `cores` 0: unknown.
void measure(const char* figure, int cores, const std::function<bool(Topology&)>& read) {
  constexpr int kSamples = 101;
  double samples[kSamples];
  for (double& sample : samples) {
    Topology topology;
    const double start = now_ns();
    const bool good = read(topology);
    sample = now_ns() - start;
    const int count = topology.level[static_cast<int>(marline::Level::kCores)].count;
    if (!good || (cores > 0 && count != cores)) {
      fprintf(stderr, "bench: %s: not read, or %d cores instead of %d\n", figure, count, cores);
      exit(1);
    }
    topology_free(topology);
  }
  std::nth_element(samples, samples + kSamples / 2, samples + kSamples);
  printf("%s %.3f ns\n", figure, samples[kSamples / 2]);
}

}  // namespace

int main() {
  const CpuMask allowed = marline::thread_affinity();
  const char* reason = nullptr;
  measure("read_topology", 0, [&](Topology& result) { return topology_read_sysfs("", allowed, result); });
  marline::SysfsTree tree;
  marline::kLargeServer.build(tree);
  CpuMask all;
  for (const int cpu : marline::kLargeServer.all()) all.set(cpu);
  const std::string root = tree.root();
  measure("read_topology_256", marline::kLargeServer.all_cores(),
          [&](Topology& result) { return topology_read_sysfs(root.c_str(), all, result); });
  setenv("HWLOC_COMPONENTS", "linux", 1);  // by hwloc
  measure("hwloc_topology", 0, [&](Topology& result) { return topology_read(result, reason); });
  setenv("HWLOC_COMPONENTS", "linux,stop", 1);
  setenv("HWLOC_FSROOT", root.c_str(), 1);
  measure("hwloc_topology_256", marline::kLargeServer.all_cores(),
          [&](Topology& result) { return topology_read(result, reason); });
  return 0;
}
