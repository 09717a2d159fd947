// SPDX-License-Identifier: Apache-2.0
//
// The times until which links and network cards are in use, as words that processes share. Each process makes a memfd
// before it joins the job. After that, the processes of a node map the memfd of the node's lowest process for the links
// to this node, and all processes map the memfd of process 0 for the network cards of all nodes. They find a memfd
// among the open files of its process. If that process has ended or hides its files, a process uses its own memfd, and
// shares nothing there. One thread.
#pragma once

#include "wire/base/wire.hpp"

#include <atomic>

namespace marline::offload::wire {

class LinkBusy {
 public:
  // Called before the job is joined. Returns false if there is no memory.
  [[nodiscard]] bool make();
  // Called after the job is joined. `first`: the process id of the node's lowest process; `zero`: that of process 0. 0
  // means this process.
  void share(int first, int zero);
  void close();
  // The word of the link from the node with `peer` as its lowest process.
  [[nodiscard]] std::atomic<uint64_t>& from(int peer) { return links_->links[peer]; }
  // The words of the network card of the node with `peer` as its lowest process.
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
