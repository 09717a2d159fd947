// SPDX-License-Identifier: Apache-2.0
//
// What a node of a cluster has, for `marline ps`: the report of each process of it has a part "cluster" with these
// numbers. Written under the node's lock, but for `sent` and those of GPUs, and read by whoever reports: each number
// alone is true.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::device {

struct ClusterSeen {
  std::atomic<int64_t> under_way{0};            // in the program: tasks that have been created and have not ended
  std::atomic<int64_t> waiting{0};              // kernels that are here and have not got all of their inputs
  std::atomic<int64_t> copies{0};               // buffers of which the node has a copy
  std::atomic<int64_t> bytes{0};                // of these
  std::atomic<int64_t> sent{0};                 // bytes, to other nodes of the cluster
  std::atomic<int64_t> to_gpu{0}, from_gpu{0};  // likewise, over the bus of the node's GPU
};

[[nodiscard]] ClusterSeen& cluster_seen();

inline void count_up(std::atomic<int64_t>& number, int64_t more = 1) {
  number.fetch_add(more, std::memory_order_relaxed);
}

// Registers the part; once.
void show_cluster(uint32_t node);

}  // namespace marline::offload::device
