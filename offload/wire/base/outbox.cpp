// SPDX-License-Identifier: Apache-2.0
//
// Cuts a frame into pieces, and queues frames.
#include "wire/base/outbox.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

Message::Message(const Frame& frame, const uint64_t* words, const void* bulk)
    : pieces{{reinterpret_cast<const char*>(&frame), sizeof frame},
             {reinterpret_cast<const char*>(words), frame.words * sizeof(uint64_t)},
             {static_cast<const char*>(bulk), frame.bulk}} {}

void Message::skip(uint64_t done) {
  for (Piece& piece : pieces) {
    uint64_t part = std::min(done, piece.count);
    if (part == 0) continue;
    piece.bytes += part;
    piece.count -= part;
    done -= part;
  }
}

Message Queued::rest() {
  Message message(frame, words(), bulk);
  message.skip(done);
  return message;
}

bool Outbox::append(const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing, uint64_t done) {
  size_t bytes = frame.words * sizeof(uint64_t);
  size_t copied = outgoing == nullptr ? frame.bulk : 0;
  auto* queued = static_cast<Queued*>(std::malloc(sizeof(Queued) + bytes + copied));
  if (queued == nullptr) return false;
  *queued = {.next = nullptr,
             .outgoing = frame.bulk != 0 ? outgoing : nullptr,
             .bulk = static_cast<const char*>(bulk),
             .done = done,
             .frame = frame};
  if (bytes != 0) std::memcpy(queued->words(), words, bytes);
  if (copied != 0) queued->bulk = static_cast<char*>(std::memcpy(queued->words() + frame.words, bulk, copied));
  queued_.push(queued);
  return true;
}

void Outbox::drop_first() { std::free(queued_.pop()); }

}  // namespace marline::offload::wire
