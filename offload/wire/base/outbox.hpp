// SPDX-License-Identifier: Apache-2.0
//
// Frames for which a link has had no room yet, in order. Under the link's lock.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// A stretch of bytes to be sent.
struct Piece {
  const char* bytes;
  uint64_t count;
};

// A frame, its words and its bulk, of which the first `done` bytes have been sent.
struct Message {
  static constexpr int kPieces = 3;
  Piece pieces[kPieces];

  Message(const Frame& frame, const uint64_t* words, const void* bulk);
  [[nodiscard]] uint64_t bytes() const { return pieces[0].count + pieces[1].count + pieces[2].count; }
  void skip(uint64_t done);
};

struct Queued {
  Queued* next;
  Outgoing* outgoing;  // null: there is no bulk, or it was copied
  const char* bulk;
  uint64_t done;  // bytes that have been sent, of all
  Frame frame;
  // The words follow, and the bulk if it was copied.
  [[nodiscard]] uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
  [[nodiscard]] Message rest();
};

class Outbox {
 public:
  [[nodiscard]] Queued* first() const { return first_; }
  // Without `outgoing`, a bulk is copied. False: no memory.
  [[nodiscard]] bool append(const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing,
                            uint64_t done);
  void drop_first();

 private:
  Queued* first_ = nullptr;
  Queued* last_ = nullptr;
};

}  // namespace marline::offload::wire
