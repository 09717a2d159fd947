// SPDX-License-Identifier: Apache-2.0
//
// Copies of the same bytes to several devices at about the same time. Each copy is made in parts. A copy that begins
// while another one of the same source goes on takes its parts from that one's device, as they arrive there: so each
// byte comes to a node once, and passes from device to device inside the node. The first devices of the nodes form a
// chain, and so do the devices of a node: with parts that are small against the whole, the last copy of a chain ends
// soon after the first, and a device sends its bytes twice at most, but for copies that begin late.
//
// This is the order of it alone: which device takes what from which one, and when. It sends nothing and knows no
// thread; the caller has a lock around all calls (shared_copies.cpp).
//
// Invariants. The parts of a copy are sent in order, and `arrive` is called in order (shared_copies.cpp sees to it for
// GPUs, whose parts arrive in any), so a number says which are there. A copy is through when all its parts have
// arrived; one that the program sends itself, when all have left the program's memory. It ends when it is through, and
// the copies that follow it are, too: until then neither its source nor its target may change, as the program has not
// been told that it has ended. A copy that is through gets no more followers, so it waits for those alone that came
// before; what follows these does not count. Its target is a worker's memory or a GPU's, and that is what followers
// read.
//
// A worker does what concerns its memory in the order of the frames: so bytes may be read there by a command that is
// sent behind them, and need not have arrived. What concerns a GPU it does by tasks: there only what has arrived
// counts, and as each part takes memory of the worker until then, few parts are under way at a time.
#pragma once

#include <cstdint>

namespace marline::offload::device {

// What is copied: bytes of the program or of a device (shared_copies.hpp).
struct FanOutSource {
  int place;
  int node;  // where that is; places of one node have the same number
  uint64_t address;
  uint64_t bytes;  // > 0
  bool is_gpu = false;
  bool is_for_one = false;  // it goes to the job's only device, a processor: no other copy can follow
};

// One copy. The caller sets the first part; the rest is FanOut's, until the copy has ended.
struct FanOutCopy {
  FanOutSource source;
  int place;  // the device to which it goes
  int node;
  uint64_t to;  // the address there
  bool is_gpu = false;

  FanOutCopy* from =
      nullptr;           // takes its parts from this one's target; null: from the source. Constant once it has joined
  bool crosses = false;  // it brings the bytes to its node; constant, likewise
  bool is_open = false;  // its parts may be sent
  uint32_t count = 0;    // parts; of these:
  uint32_t sent = 0, gone = 0, arrived = 0;
  uint32_t followers = 0;  // which are not through
  FanOutCopy *first_follower = nullptr, *next_follower = nullptr;
  FanOutCopy *before = nullptr, *after = nullptr;  // all that have not ended, as they have joined
  bool is_ready = false;                           // in the list of those whose parts are to be looked at
  FanOutCopy* next = nullptr;                      // there, or in a list of copies that have ended
};

struct FanOutPart {
  FanOutCopy* copy;  // whose `from` says where the bytes are
  uint32_t number;
  uint64_t offset;
  uint64_t bytes;
  bool is_from_program;  // go() is to be called when it has left the program's memory
  bool is_answered;      // arrive() is to be called when it has arrived
};

class FanOut {
 public:
  // Parts of one copy that the program sends itself, or from or to a GPU, and that have not arrived. So the copy goes
  // on about as long as its bytes are on their way, and others can follow it, however much the wire takes at once; but
  // for the last parts, for whose arrival nobody waits. The first look at what else is to be copied comes behind fewer.
  static constexpr uint32_t kMostUnderWay = 8, kFirst = 2;
  // The bytes of a part. Of what the program sends, from 16 MiB on 64 parts or more: a chain of k copies takes about
  // k/64 longer than one. A worker's parts are larger, as each of them is commanded. So are the parts of a copy that no
  // other can follow: each part costs the wire some microseconds.
  [[nodiscard]] static uint64_t part_of(const FanOutSource& source);

  // From now on others may follow the copy. Looks at all copies that have not ended.
  void join(FanOutCopy* copy);
  // From now on its parts are sent.
  void open(FanOutCopy* copy);

  // The next part, of any copy, that is to be sent before the next call. What a worker is to pass on may have been sent
  // to it just before: that comes first. False: there is none at the moment.
  [[nodiscard]] bool next_part(FanOutPart& part);
  // The next one of the copy's parts has left the program's memory, or has arrived. Returns the copies that have ended
  // by that, linked by `next`; they are the caller's again.
  [[nodiscard]] FanOutCopy* go(FanOutCopy* copy);
  [[nodiscard]] FanOutCopy* arrive(FanOutCopy* copy);

  [[nodiscard]] bool is_empty() const { return first_ == nullptr; }

 private:
  FanOutCopy* find_predecessor(const FanOutCopy& copy) const;
  void make_ready(FanOutCopy* copy);
  void make_followers_ready(const FanOutCopy* copy);
  FanOutCopy* move_on(FanOutCopy* copy);
  void leave_predecessor(FanOutCopy* copy);
  FanOutCopy* end_if_through(FanOutCopy* copy, FanOutCopy* ended);

  FanOutCopy *first_ = nullptr, *last_ = nullptr;
  FanOutCopy* ready_ = nullptr;
};

}  // namespace marline::offload::device
