// SPDX-License-Identifier: Apache-2.0
//
// Until when the links to this node are busy, and the network cards of all nodes: words that processes share. Each
// process makes a memfd before it joins the job; after that all map the one of the lowest process of their node for the
// links, and that of process 0 for the cards. They find them among these processes' open files. A process that cannot,
// as that one has ended or hides its files, uses its own, and shares nothing there. One thread.
#pragma once

#include "wire/base/wire.hpp"

#include <atomic>

namespace marline::offload::wire {

class LinkBusy {
 public:
  // Before the job is joined. False: there is no memory.
  [[nodiscard]] bool make();
  // After it. `first`: the process id of the node's lowest process, `zero`: that of process 0; 0: it is this one.
  void share(int first, int zero);
  void close();
  // Of the link from the node whose lowest process is `peer`.
  [[nodiscard]] std::atomic<uint64_t>& from(int peer) { return links_->links[peer]; }
  // Of the card of the node whose lowest process is `peer`.
  [[nodiscard]] std::atomic<uint64_t>& card_out(int peer) { return cards_->cards_out[peer]; }
  [[nodiscard]] std::atomic<uint64_t>& card_in(int peer) { return cards_->cards_in[peer]; }

  static constexpr int kMostPeers = 1 << 16;

 private:
  struct Words {
    std::atomic<uint64_t> links[kMostPeers], cards_out[kMostPeers], cards_in[kMostPeers];
  };
  static Words* map(int file);
  static Words* map_file_of(int pid);

  Words *links_ = nullptr, *cards_ = nullptr;  // never the same mapping
  int file_ = -1;
};

}  // namespace marline::offload::wire
