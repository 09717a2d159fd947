// SPDX-License-Identifier: Apache-2.0
//
// Reports the statistics of this process's node to `marline ps`.
#include "device/cluster/protocol/statistics.hpp"

#include "device/contract/json.hpp"
#include "marline/marline.h"

namespace marline::offload::device {

namespace {

uint32_t g_node;

int64_t read(const std::atomic<int64_t>& number) { return number.load(std::memory_order_relaxed); }

// {"node": 1, "under_way": 0, "waiting": 2, "copies": 3, "bytes": 4096, "sent": 100, "to_gpu": 0, "from_gpu": 0}
void describe(void*, marline_describe_write_fn write, void* sink) {
  const ClusterStatistics& seen = cluster_statistics();
  JsonSink(write, sink)
      .print(
          "{\"node\": %u, \"under_way\": %ld, \"waiting\": %ld, \"copies\": %ld, \"bytes\": %ld, \"sent\": %ld, "
          "\"to_gpu\": %ld, \"from_gpu\": %ld}",
          g_node, read(seen.under_way), read(seen.waiting), read(seen.copies), read(seen.bytes), read(seen.sent),
          read(seen.to_gpu), read(seen.from_gpu));
}

}  // namespace

ClusterStatistics& cluster_statistics() {
  static constinit ClusterStatistics own;
  return own;
}

void show_cluster(uint32_t node) {
  g_node = node;
  (void)marline_describe_register("cluster", describe, nullptr);
}

}  // namespace marline::offload::device
