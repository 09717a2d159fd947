// SPDX-License-Identifier: Apache-2.0
//
// The scope in which a thread of a worker uses the wire. When the program has ended, the first thread leaves and frees
// the wire. A user first raises `users_` and then loads `ends_`. At the end, `ends_` is stored first, and then the
// first thread waits until `users_` is 0 (all seq_cst). So a user either sees the end, or the first thread waits for
// it.
#pragma once

#include "device/remote/job/frames.hpp"

#include <atomic>

namespace marline::offload::device {

class WireUse {
 public:
  WireUse() { users_.fetch_add(1); }
  ~WireUse() { users_.fetch_sub(1); }
  WireUse(const WireUse&) = delete;
  WireUse& operator=(const WireUse&) = delete;

  [[nodiscard]] bool is_possible() const { return !has_ended(); }

  // Sends the frame to the program, unless the program has ended.
  static void send(const NodeJob& job, const Frame& frame, const uint64_t* words = nullptr) {
    WireUse use;
    if (use.is_possible()) job.send(0, frame, words);
  }

  static void note_end() { ends_.store(true); }
  [[nodiscard]] static bool has_ended() { return ends_.load(); }
  [[nodiscard]] static bool is_under_way() { return users_.load() != 0; }

 private:
  static inline std::atomic<int> users_{0};
  static inline std::atomic<bool> ends_{false};
};

}  // namespace marline::offload::device
