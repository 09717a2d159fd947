// SPDX-License-Identifier: Apache-2.0
//
// In a worker: the scope in which a thread uses the wire, which the first thread leaves and frees when the program has
// ended. Here the count comes first and then the look at the end, there the other way round (both seq_cst).
#pragma once

#include <atomic>

namespace marline::offload::device {

class WireUse {
 public:
  WireUse() { users_.fetch_add(1); }
  ~WireUse() { users_.fetch_sub(1); }
  WireUse(const WireUse&) = delete;
  WireUse& operator=(const WireUse&) = delete;

  [[nodiscard]] bool is_possible() const { return !has_ended(); }

  static void note_end() { ends_.store(true); }
  [[nodiscard]] static bool has_ended() { return ends_.load(); }
  [[nodiscard]] static bool is_under_way() { return users_.load() != 0; }

 private:
  static inline std::atomic<int> users_{0};
  static inline std::atomic<bool> ends_{false};
};

}  // namespace marline::offload::device
