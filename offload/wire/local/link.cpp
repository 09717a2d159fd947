// SPDX-License-Identifier: Apache-2.0
//
// Sends the frames of one link.
#include "wire/local/link.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace marline::offload::wire {

namespace {

constexpr int kMostFlushed = 64;  // tries per call, because the link's lock is held
// Bytes published at once, so that the reader copies while the writer goes on.
constexpr uint64_t kRingPiece = 64 << 10;

// The pieces that one system call sends.
struct Gathered {
  static constexpr int kMost = 2 * Burst::kMostHeld;
  static constexpr uint64_t kFew = 256 << 10;  // bytes: with more, no further frame is added
  iovec parts[kMost];
  int count = 0;
  uint64_t bytes = 0;

  [[nodiscard]] bool has_room() const { return count <= kMost - Message::kPieces && bytes < kFew; }
  void add(const Message& message) {
    for (const Piece& piece : message.pieces) {
      if (piece.count != 0) parts[count++] = {const_cast<char*>(piece.bytes), piece.count};
    }
    bytes += message.bytes();
  }
};

bool is_leave(const Frame& frame) { return static_cast<ControlKind>(frame.kind) == ControlKind::kLeave; }

}  // namespace

bool Burst::take(uint64_t sent) {
  auto gap = static_cast<int64_t>(sent - last_sent);  // negative: another thread with a later time came first
  last_sent = sent;
  frames = gap < kGap ? frames + 1 : 0;
  return frames >= kAtOnce;
}

Link::Sent Link::send(Frame frame, const uint64_t* words, const void* bulk, Outgoing*& outgoing) {
  Guard guard(lock);
  if (gone.load(std::memory_order_relaxed) || said_leave) return Sent::kAll;
  frame.sequence = ++sequence;
  sent.store(sequence, std::memory_order_relaxed);
  bool is_of_burst = burst.take(frame.sent) && (frame.flags & kAwaited) == 0;
  bool may_wait = (is_of_burst || (frame.flags & kMayWait) != 0) && frame.bulk <= Burst::kMostBulk && !transport.shared;
  if (may_wait) outgoing = nullptr;
  return send_or_queue(frame, words, bulk, outgoing, may_wait);
}

Link::Sent Link::send_control(Frame frame) {
  Guard guard(lock);
  if (gone.load(std::memory_order_relaxed) || said_leave) return Sent::kAll;
  said_leave = is_leave(frame);
  frame.sequence = 0;
  return send_or_queue(frame, nullptr, nullptr, nullptr, false);
}

// While a socket is not full, its outbox contains only frames that may wait, and none of them has an Outgoing to
// notify: a frame with a larger bulk is tried at once, and the socket is full if not all of it is sent.
Link::Sent Link::send_or_queue(const Frame& given, const uint64_t* words, const void* bulk, Outgoing* outgoing,
                               bool may_wait) {
  Frame frame = given;
  frame.credits =
      unreported.load(std::memory_order_relaxed) != 0 ? unreported.exchange(0, std::memory_order_relaxed) : 0;
  const bool is_first = outbox.first() == nullptr;
  uint64_t done = 0;
  if (is_first && !may_wait) {
    Message message(frame, words, bulk);
    done = push(message);
    if (done == message.bytes()) return Sent::kAll;
    transport.is_full.store(true, std::memory_order_relaxed);
  }
  if (!outbox.append(frame, words, bulk, outgoing, done)) return Sent::kNoMemory;
  queued.fetch_add(1);  // before the check whether the waiting thread sleeps: see local_wait.cpp
  while (pushes_held(may_wait)) {
    // Only this frame can have an Outgoing to notify, and kAll reports that its bulk has been sent.
    (void)note_pushed(push_queued().bytes);
    if (outbox.first() == nullptr) return Sent::kAll;
  }
  return is_first ? Sent::kQueuedFirst : Sent::kQueued;
}

bool Link::pushes_held(bool may_wait) const {
  if (transport.shared || transport.is_full.load(std::memory_order_relaxed)) return false;
  return !may_wait || queued.load(std::memory_order_relaxed) >= Burst::kMostHeld;
}

bool Link::waits_still(uint64_t time) const {
  const Queued* first = outbox.first();
  if (first == nullptr || transport.shared || transport.is_full.load(std::memory_order_relaxed)) return false;
  return static_cast<int64_t>(time - first->frame.sent) < Burst::kGap && !gone.load(std::memory_order_relaxed);
}

Link::Flushed Link::flush(uint64_t time, Outgoing*& finished) {
  Guard guard(lock);
  bool moved = false;
  if (waits_still(time)) return Flushed::kNothing;
  for (int i = 0; i < kMostFlushed && outbox.first() != nullptr; ++i) {
    Pushed pushed = push_queued();
    moved = moved || pushed.bytes != 0;
    finished = note_pushed(pushed.bytes);
    if (finished != nullptr) return Flushed::kBulk;
    if (!pushed.all) break;
  }
  return moved ? Flushed::kSome : Flushed::kNothing;
}

bool Link::has_output() const {
  if (queued.load() == 0) return false;
  if (gone.load()) return true;
  return transport.shared ? transport.out.has_much_room() : !transport.is_full.load(std::memory_order_relaxed);
}

uint64_t Link::push(const Message& message) {
  if (transport.shared) return push_to_ring(message);
  Gathered one;
  one.add(message);
  return push_to_socket(one.parts, one.count);
}

// Sends the first queued frame; on a socket also later ones, up to the first that has an Outgoing to notify.
Link::Pushed Link::push_queued() {
  Queued* next = outbox.first();
  Message message = next->rest();
  if (gone.load(std::memory_order_relaxed)) return {message.bytes(), true};
  if (transport.shared) {
    uint64_t bytes = push_to_ring(message);
    return {bytes, bytes == message.bytes()};
  }
  Gathered many;
  many.add(message);
  while (next->outgoing == nullptr && (next = next->next) != nullptr && many.has_room()) many.add(next->rest());
  uint64_t bytes = push_to_socket(many.parts, many.count);
  if (bytes != many.bytes) transport.is_full.store(true, std::memory_order_relaxed);
  return {bytes, bytes == many.bytes};
}

// Removes `bytes` sent bytes from the queue. Returns the Outgoing to notify, or null; its frame is the last one that
// has been sent completely.
Outgoing* Link::note_pushed(uint64_t bytes) {
  Outgoing* finished = nullptr;
  while (bytes != 0) {
    Queued* first = outbox.first();
    uint64_t left = first->rest().bytes();
    if (bytes < left) {
      first->done += bytes;
      break;
    }
    bytes -= left;
    finished = first->outgoing;
    outbox.drop_first();
    queued.fetch_sub(1, std::memory_order_relaxed);
  }
  if (outbox.first() == nullptr) transport.is_full.store(false, std::memory_order_relaxed);
  return finished;
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

// Makes one system call, so that a large bulk does not keep a sender. If the socket is broken, reading from it reports
// that, but not the reason if a send has already received it.
uint64_t Link::push_to_socket(const iovec* parts, int count) {
  msghdr header = {};
  header.msg_iov = const_cast<iovec*>(parts);
  header.msg_iovlen = static_cast<size_t>(count);
  ssize_t sent_bytes = sendmsg(transport.socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent_bytes < 0 && is_silence(errno)) is_silent.store(true, std::memory_order_relaxed);
  return sent_bytes > 0 ? static_cast<uint64_t>(sent_bytes) : 0;
}

}  // namespace marline::offload::wire
