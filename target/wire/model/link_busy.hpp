// SPDX-License-Identifier: Apache-2.0
//
// Until when the links to this node are busy: words that the processes of a node share. Each process makes a memfd before
// it joins the job; after that all map the one of the lowest process of their node, which they find among its open files.
// A process that cannot, as that one has ended or hides its files, uses its own, and its links are not shared. One thread.
#pragma once

#include "wire/base/wire.hpp"

#include <atomic>

namespace marline::target {

class LinkBusy {
 public:
  // Before the job is joined. False: there is no memory.
  [[nodiscard]] bool make();
  // After it. `first`: the process id of the node's lowest process; 0: it is this one.
  void share(int first);
  void close();
  // Of the link from the node whose lowest process is `peer`.
  [[nodiscard]] std::atomic<uint64_t>& from(int peer) { return words_[peer]; }

  static constexpr int kMostPeers = 1 << 16;

 private:
  std::atomic<uint64_t>* words_ = nullptr;
  int file_ = -1;
};

}  // namespace marline::target
