// SPDX-License-Identifier: Apache-2.0
//
// See the header. What is sent.
#include "wire/local/link.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

namespace marline::target {

namespace {

constexpr int kMostFlushed = 64;             // frames at a time, as a lock is held
constexpr uint64_t kRingPiece = 64 << 10;    // published at once, so that the reader copies beside the writer

}  // namespace

Link::Sent Link::send(Frame frame, const uint64_t* words, const void* bulk, Outgoing* outgoing) {
  Guard guard(lock);
  if (gone.load(std::memory_order_relaxed) || said_leave) return Sent::kAll;
  frame.sequence = ++sequence;
  sent.store(sequence, std::memory_order_relaxed);
  return send_or_queue(frame, words, bulk, outgoing);
}

Link::Sent Link::send_control(Frame frame) {
  Guard guard(lock);
  if (gone.load(std::memory_order_relaxed) || said_leave) return Sent::kAll;
  said_leave = static_cast<ControlKind>(frame.kind) == ControlKind::kLeave;
  frame.sequence = 0;
  return send_or_queue(frame, nullptr, nullptr, nullptr);
}

Link::Sent Link::send_or_queue(const Frame& given, const uint64_t* words, const void* bulk, Outgoing* outgoing) {
  Frame frame = given;
  frame.credits = untold.load(std::memory_order_relaxed) != 0 ? untold.exchange(0, std::memory_order_relaxed) : 0;
  const bool is_first = outbox.first() == nullptr;
  uint64_t done = 0;
  if (is_first) {
    Message message(frame, words, bulk);
    done = push(message);
    if (done == message.bytes()) return Sent::kAll;
  }
  if (!outbox.append(frame, words, bulk, outgoing, done)) return Sent::kNoMemory;
  queued.fetch_add(1);  // before the look at whether the waiting thread sleeps: see local_wait.cpp
  return is_first ? Sent::kQueuedFirst : Sent::kQueued;
}

Link::Flushed Link::flush(Outgoing*& finished) {
  Guard guard(lock);
  bool moved = false;
  for (int i = 0; i < kMostFlushed; ++i) {
    Queued* first = outbox.first();
    if (first == nullptr) break;
    if (!gone.load(std::memory_order_relaxed)) {
      Message message = first->rest();
      uint64_t done = push(message);
      first->done += done;
      moved = moved || done != 0;
      if (done != message.bytes()) break;
    }
    finished = first->outgoing;
    outbox.drop_first();
    queued.fetch_sub(1, std::memory_order_relaxed);
    if (finished != nullptr) return Flushed::kBulk;
  }
  return moved ? Flushed::kSome : Flushed::kNothing;
}

uint64_t Link::push(const Message& message) {
  return transport.shared ? push_to_ring(message) : push_to_socket(message);
}

uint64_t Link::push_to_ring(const Message& message) {
  uint64_t done = 0, unpublished = 0;
  for (const Piece& piece : message.pieces) {
    for (uint64_t at = 0; at < piece.count;) {
      uint64_t want = piece.count - at < kRingPiece ? piece.count - at : kRingPiece;
      uint64_t got = transport.out.write(piece.bytes + at, want);
      at += got;
      done += got;
      unpublished += got;
      if (unpublished < kRingPiece && got == want) continue;
      if (unpublished != 0) transport.out.publish();
      if (unpublished != 0) transport.bell->ring(transport.bell_file);
      unpublished = 0;
      if (got != want) return done;
    }
  }
  if (unpublished != 0) transport.out.publish();
  if (unpublished != 0) transport.bell->ring(transport.bell_file);
  return done;
}

// One call, so that a large bulk does not keep a sender. If the socket is broken, reading from it will say so.
uint64_t Link::push_to_socket(const Message& message) {
  iovec parts[Message::kPieces];
  int count = 0;
  for (const Piece& piece : message.pieces) {
    if (piece.count != 0) parts[count++] = {const_cast<char*>(piece.bytes), piece.count};
  }
  msghdr header = {};
  header.msg_iov = parts;
  header.msg_iovlen = static_cast<size_t>(count);
  ssize_t sent_bytes = sendmsg(transport.socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent_bytes > 0 ? static_cast<uint64_t>(sent_bytes) : 0;
}

}  // namespace marline::target
