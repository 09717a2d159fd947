// SPDX-License-Identifier: Apache-2.0
//
// Decides how copies of the same bytes to several devices at about the same time share the way. Each copy is made in
// parts. A copy that begins while another copy of the same source is in progress *follows* that copy: it takes its
// parts from the device of that copy, as they arrive there. So each byte comes to a node once, and then passes from
// device to device inside the node. The first devices of the nodes form a chain, and so do the devices of a node. If
// the parts are small compared with the whole, the last copy of a chain ends soon after the first. A device sends its
// bytes twice at most, except to copies that begin late.
//
// FanOut decides only the order: which device takes which part from which device, and when. It sends nothing and knows
// no threads; the caller holds a lock around all calls (shared_copies.cpp).
//
// Invariants. The parts of a copy are sent in order, and `arrive` is called in order (parts of a GPU may arrive in any
// order; shared_copies.cpp sorts them), so a number says which parts have arrived. A copy is *through* when all its
// parts have arrived. If the program sends the copy itself, its parts must also have left the program's memory; to a
// processor, that alone is enough. A copy ends when it and the copies that follow it are through. Until then neither
// its source nor its target may change, as its end has not been reported to the program. A copy that is through gets no
// more followers, so it waits only for the followers that it has; the followers of these do not count. Followers read
// the copy's target, which is a worker's memory or a GPU's.
//
// A worker handles frames about its own memory in the order in which they were sent: so a command may read bytes that
// were sent just before it and have not arrived yet. A worker handles frames about a GPU by tasks: there only parts
// that have arrived count. Each such part takes memory of the worker until then, so few of them are in flight at a
// time.
#pragma once

#include <cstdint>

namespace marline::offload::device {

// What is copied: bytes of the program or of a device (shared_copies.hpp).
struct FanOutSource {
  int place;
  int node;  // of `place`; places of one node have the same number
  uint64_t address;
  uint64_t bytes;  // > 0
  bool is_gpu = false;
  bool is_for_one = false;  // the copy goes to the job's only device, a processor: no copy can follow it
};

// One copy. The caller sets the fields of the first part. The other fields belong to FanOut until the copy has ended.
struct FanOutCopy {
  FanOutSource source;
  int place;  // the device to which it goes
  int node;
  uint64_t to;  // the address there
  bool is_gpu = false;

  // The copy that this one follows: it takes its parts from that copy's target. Null: it takes them from the source.
  // Constant after join().
  FanOutCopy* from = nullptr;
  bool crosses = false;  // it brings the bytes to its node from another one; constant after join()
  bool is_open = false;  // its parts may be sent
  uint32_t count = 0;    // parts in all; the next three count some of these
  uint32_t sent = 0, gone = 0, arrived = 0;
  uint32_t followers = 0;  // followers that are not through
  FanOutCopy *first_follower = nullptr, *next_follower = nullptr;
  FanOutCopy *before = nullptr, *after = nullptr;  // in the list of copies that have not ended, in the order of join()
  bool is_ready = false;                           // it is in the list of copies that have a part to send
  FanOutCopy* next = nullptr;                      // in that list, or in a list of copies that have ended
};

struct FanOutPart {
  FanOutCopy* copy;  // `copy->from` says where the bytes are
  uint32_t number;
  uint64_t offset;
  uint64_t bytes;
  bool is_from_program;  // the caller calls go() when it has left the program's memory
  bool is_answered;      // the caller calls arrive() when it has arrived
};

class FanOut {
 public:
  // kMostUnderWay: how many parts of one copy may be sent and not have arrived. It holds for copies that the program
  // sends itself, and for copies from or to a GPU. So a copy lasts about as long as its bytes are on their way, and
  // copies of the same source that begin in this time can follow it (take their parts from its device), however much
  // the wire takes at once. The last parts are an exception: nothing waits for their arrival. kFirst: the same until
  // the first part has left the program's memory. It is smaller, so that FanOut looks early at what else is to be
  // copied.
  static constexpr uint32_t kMostUnderWay = 8, kFirst = 2;
  // The bytes of a part. If the program sends 16 MiB or more, there are at least 64 parts: so a chain of k copies takes
  // about k/64 longer than one copy. Parts that a worker sends are larger, as each of them needs a command. Parts of a
  // copy that no other can follow are larger, too: each part costs the wire some microseconds.
  [[nodiscard]] static uint64_t part_of(const FanOutSource& source);

  // Adds the copy, and chooses the copy that it follows, if there is one. Looks at all copies that have not ended.
  void join(FanOutCopy* copy);
  // From now on the copy's parts are sent, and other copies may follow it.
  void open(FanOutCopy* copy);

  // Takes the next part of any copy. The caller sends it before the next call, as the next part may be one that a
  // worker forwards and that is sent to the worker just before. False: no part can be sent at the moment.
  [[nodiscard]] bool next_part(FanOutPart& part);
  // The next one of the copy's parts has left the program's memory (go) or has arrived (arrive). Returns the copies
  // that end by that, linked by `next`; they belong to the caller again.
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
