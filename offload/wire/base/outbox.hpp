// SPDX-License-Identifier: Apache-2.0
//
// Queues the frames of one link that had no room yet, in order. The link's lock protects it.
#pragma once

#include "base/intrusive_list.hpp"
#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// A range of bytes to be sent.
struct Piece {
  const char* bytes;
  uint64_t count;
};

// A frame, its words and its bulk as three pieces. `skip` removes the first `done` bytes, which have been sent.
struct Message {
  static constexpr int kPieces = 3;
  Piece pieces[kPieces];

  Message(const Frame& frame, const uint64_t* words, const void* bulk);
  [[nodiscard]] uint64_t bytes() const { return pieces[0].count + pieces[1].count + pieces[2].count; }
  void skip(uint64_t done);
};

struct Queued {
  Queued* next;
  Outgoing* outgoing;  // null: there is no bulk, or the bulk was copied
  const char* bulk;
  uint64_t done;  // bytes of the frame, words and bulk that have been sent
  Frame frame;
  // The words follow this struct, and then the bulk if it was copied.
  [[nodiscard]] uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  [[nodiscard]] Message rest();
};

class Outbox {
 public:
  [[nodiscard]] Queued* first() const { return queued_.first(); }
  // Copies the bulk if `outgoing` is null. Returns false if there is no memory.
  [[nodiscard]] bool append(const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing,
                            uint64_t done);
  void drop_first();

 private:
  IntrusiveList<Queued> queued_;
};

}  // namespace marline::offload::wire
