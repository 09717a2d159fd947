// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a node of a cluster, for `marline ps`: the report of each process has a part "cluster" with these
// numbers. `sent`, `to_gpu` and `from_gpu` are written without a lock, the others under the node's lock. All are read
// without a lock: each number is right, but two numbers may be from different moments.
#pragma once

#include <atomic>
#include <cstdint>

namespace marline::offload::device {

struct ClusterStatistics {
  // Tasks that have been created and have not ended; only in the program.
  std::atomic<int64_t> under_way{0};
  // Kernels that the node has been assigned and has not started.
  std::atomic<int64_t> waiting{0};
  std::atomic<int64_t> copies{0};               // buffers of which the node has a copy
  std::atomic<int64_t> bytes{0};                // the bytes of these copies
  std::atomic<int64_t> sent{0};                 // bytes sent to other nodes of the cluster
  std::atomic<int64_t> to_gpu{0}, from_gpu{0};  // bytes moved over the bus of the node's GPU
};

[[nodiscard]] ClusterStatistics& cluster_statistics();

inline void count_up(std::atomic<int64_t>& number, int64_t more = 1) {
  number.fetch_add(more, std::memory_order_relaxed);
}

// Registers the part "cluster". Must be called once.
void show_cluster(uint32_t node);

}  // namespace marline::offload::device
