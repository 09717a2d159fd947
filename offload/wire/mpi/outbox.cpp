// SPDX-License-Identifier: Apache-2.0
//
// Sends frames. A sender holds the outbox's lock from when it numbers the frame until MPI has its message: the peer
// receives in that order. The poller calls the user without that lock.
#include "wire/mpi/outbox.hpp"

#include "base/now.hpp"
#include "wire/mpi/doorbell.hpp"
#include "wire/mpi/give_up.hpp"
#include "wire/mpi/pieces.hpp"

#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

// Small messages are used again, as many as can be in flight at once.
constexpr uint32_t kSpareBytes = 256;
constexpr uint32_t kMostSpare = kWindow;

void count(std::atomic<uint32_t>& counter, uint32_t by) {
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
}

Message* make_message(Wire* wire, Outbox& box, uint32_t bytes, Tag tag) {
  const bool is_spare_size = bytes <= kSpareBytes;
  Message* message = is_spare_size ? box.spare.pop() : nullptr;
  if (message != nullptr) {
    --box.spares;
  } else {
    const size_t room = is_spare_size ? kSpareBytes : bytes;
    message = static_cast<Message*>(std::malloc(sizeof(Message) + room));
    if (message == nullptr) give_up(&wire->user, "no memory for a message of %u bytes", bytes);
  }
  message->outgoing = nullptr;
  message->bytes = bytes;
  message->frames = 1;
  message->tag = tag;
  message->is_spare_size = is_spare_size;
  return message;
}

void recycle(Outbox& box, Message* message) {
  if (!message->is_spare_size || box.spares == kMostSpare) return std::free(message);
  box.spare.push_first(message);
  ++box.spares;
}

[[nodiscard]] bool test_message(Wire* wire, Message* message, int peer) {
  int done = 0;
  MpiSection section(wire);
  check(wire, mpi.test(&message->request, &done, MPI_STATUS_IGNORE), "MPI_Test", peer);
  return done != 0;
}

uint32_t take_credits(Outbox& box) {
  const uint32_t taken = box.taken.load(std::memory_order_relaxed);
  const uint32_t credits = taken - box.reported.load(std::memory_order_relaxed);
  box.reported.store(taken, std::memory_order_relaxed);
  return credits;
}

// Sets Frame::sent when the message starts: the time in the queue is not the time of the link.
void note_times(Message* message) {
  const uint64_t time = now();
  char* at = reinterpret_cast<char*>(message->frame());
  for (uint32_t i = 0; i < message->frames; ++i) {
    auto* frame = reinterpret_cast<Frame*>(at);
    frame->sent = time;
    at += padded(bytes_of(*frame));
  }
}

// Gives a message to MPI. Most messages are sent when MPI_Isend returns.
void start(Wire* wire, Outbox& box, int peer, Message* message) {
  message->frame()->credits = take_credits(box);
  if (wire->user.wants_times) note_times(message);
  {
    MpiSection section(wire);
    check(wire,
          mpi.isend(message->frame(), static_cast<int>(message->bytes), mpi.byte, peer, message->tag, wire->frames,
                    &message->request),
          "MPI_Isend", peer);
  }
  if (message->outgoing != nullptr) {
    ++box.bulks;
    start_pieces(wire, message->bulk);
  } else if (test_message(wire, message, peer)) {
    return recycle(box, message);
  }
  box.flying.push(message);
  count(box.in_flight, 1);
}

[[nodiscard]] bool may_start(const Outbox& box) {
  if (box.credits == 0 || box.bulks == kMostBulks) return false;
  const Message* last = box.flying.last();
  return last == nullptr || last->outgoing == nullptr || all_started(last->bulk);
}

// How many of the first queued frames go together: as many as there are credits for, up to a frame with a bulk of its
// own.
struct Together {
  uint32_t frames;
  uint64_t bytes;
};

Together look_at_first(const Outbox& box) {
  Together found = {0, 0};
  const uint32_t most = box.credits < kMostTogether ? box.credits : kMostTogether;
  for (const Message* next : box.queued) {
    if (found.frames == most) break;
    const uint64_t bytes = padded(found.bytes) + next->bytes;
    if (found.frames != 0 && (next->outgoing != nullptr || bytes > kMostBytesTogether)) break;
    found = {found.frames + 1, bytes};
    if (next->outgoing != nullptr) break;
  }
  return found;
}

// Takes the first queued message, or makes one message of the first queued frames.
Message* take_message(Wire* wire, Outbox& box) {
  const Together first = look_at_first(box);
  count(box.queued_count, ~first.frames + 1);
  count(box.in_flight, ~first.frames + 1);
  if (first.frames == 1) return box.queued.pop();
  Message* message = make_message(wire, box, static_cast<uint32_t>(first.bytes), kFrameTag);
  char* to = reinterpret_cast<char*>(message->frame());
  for (uint32_t i = 0; i < first.frames; ++i) {
    Message* one = box.queued.pop();
    std::memcpy(to, one->frame(), one->bytes);
    to += padded(one->bytes);
    recycle(box, one);
  }
  message->frames = first.frames;
  return message;
}

// Returns how many messages it has started.
int start_queued(Wire* wire, Outbox& box, int peer) {
  int started = 0;
  while (!box.queued.is_empty() && may_start(box)) {
    Message* message = take_message(wire, box);
    box.credits -= message->frames;
    start(wire, box, peer, message);
    ++started;
  }
  return started;
}

// Whether the frame may wait: the next frame to the peer, or a poll, sends it, too.
[[nodiscard]] bool may_wait(const Outbox& box, Message* message) {
  return (message->frame()->flags & kMayWait) != 0 && message->outgoing == nullptr &&
         message->bytes <= kMostBytesTogether && box.queued_count.load(std::memory_order_relaxed) < kMostTogether;
}

void fill_frame(Wire* wire, Outbox& box, Message* message, const Frame& given) {
  Frame* frame = message->frame();
  *frame = given;
  frame->job = wire->job;
  frame->sequence = ++box.sequence;
  frame->sent = 0;  // `start` sets it
  frame->incarnation = 0;
  frame->credits = 0;  // `start` sets it in the first frame of a message
}

void fill_bulk(Message* message, int peer, const Frame& frame, const void* bulk, Outgoing* outgoing) {
  if (frame.bulk <= kMostInlined) {
    if (frame.bulk != 0) std::memcpy(reinterpret_cast<char*>(message->frame() + 1) + 8 * frame.words, bulk, frame.bulk);
    return;
  }
  message->outgoing = outgoing;
  message->bulk = Pieces{};
  message->bulk.at = static_cast<char*>(const_cast<void*>(bulk));
  message->bulk.bytes = frame.bulk;
  message->bulk.peer = peer;
  message->bulk.sending = true;
}

// Whether the oldest message and its bulk have been sent.
[[nodiscard]] bool oldest_is_sent(Wire* wire, Outbox& box, int peer) {
  Message* oldest = box.flying.first();
  if (oldest->outgoing != nullptr && test_pieces(wire, oldest->bulk) != Progress::kThrough) return false;
  return oldest->request == mpi.no_request || test_message(wire, oldest, peer);
}

// Called without the lock, because the user may send.
int report_sent(IntrusiveList<Message> list) {
  int reported = 0;
  for (Message* message : list) {
    if (message->outgoing != nullptr) {
      message->outgoing->sent(message->outgoing);
      ++reported;
    }
    std::free(message);
  }
  return reported;
}

void take_back_sent(Wire* wire, Outbox& box, int peer, IntrusiveList<Message>& with_bulk) {
  while (!box.flying.is_empty() && oldest_is_sent(wire, box, peer)) {
    Message* message = box.flying.pop();
    count(box.in_flight, ~0u);
    if (message->outgoing == nullptr) {
      recycle(box, message);
    } else {
      --box.bulks;
      with_bulk.push(message);
    }
  }
}

}  // namespace

bool send_frame(Wire* wire, int peer, const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing) {
  Outbox& box = wire->outboxes[peer];
  const uint64_t bytes = bytes_of(frame);
  box.lock.take();
  if (box.left || box.closed.load(std::memory_order_relaxed)) {
    box.lock.release();
    return true;
  }
  Message* message = make_message(wire, box, static_cast<uint32_t>(bytes), kFrameTag);
  fill_frame(wire, box, message, frame);
  if (frame.words != 0) std::memcpy(message->frame() + 1, words, 8 * frame.words);
  fill_bulk(message, peer, frame, bulk, outgoing);
  box.queued.push(message);
  count(box.queued_count, 1);
  count(box.in_flight, 1);
  if (!may_wait(box, message)) (void)start_queued(wire, box, peer);
  const bool flies = !box.flying.is_empty();
  box.lock.release();
  // The thread that sleeps in `wait` moves the message on. It finds a frame that may wait by itself, at the end of its
  // step.
  if (flies) disturb(wire->bell);
  return frame.bulk <= kMostInlined;
}

void send_notice(Wire* wire, int peer, Tag tag) {
  Outbox& box = wire->outboxes[peer];
  Guard guard(box.lock);
  // A peer that has sent its goodbye waits for the goodbye of this process.
  if (box.left || (tag != kByeTag && box.closed.load(std::memory_order_relaxed))) return;
  Message* message = make_message(wire, box, sizeof(Frame), tag);
  *message->frame() = Frame{};
  message->frame()->job = wire->job;
  start(wire, box, peer, message);
  box.left = tag == kByeTag;
}

void add_credits(Wire* wire, int peer, uint32_t credits) {
  Outbox& box = wire->outboxes[peer];
  Guard guard(box.lock);
  box.credits += credits;
  (void)start_queued(wire, box, peer);
}

int service_outbox(Wire* wire, int peer) {
  Outbox& box = wire->outboxes[peer];
  IntrusiveList<Message> with_bulk;
  box.lock.take();
  take_back_sent(wire, box, peer, with_bulk);
  const int started = start_queued(wire, box, peer);
  box.lock.release();
  return started + report_sent(with_bulk);
}

bool can_move(Wire* wire, int peer) {
  Outbox& box = wire->outboxes[peer];
  Guard guard(box.lock);
  if (!box.queued.is_empty() && may_start(box)) return true;
  return !box.flying.is_empty() && oldest_is_sent(wire, box, peer);
}

void close_outbox(Wire* wire, int peer) {
  Outbox& box = wire->outboxes[peer];
  box.lock.take();
  box.closed.store(true, std::memory_order_relaxed);
  IntrusiveList<Message> dropped = box.queued.take_all();
  count(box.in_flight, ~box.queued_count.load(std::memory_order_relaxed) + 1);
  box.queued_count.store(0, std::memory_order_relaxed);
  box.lock.release();
  report_sent(dropped);
}

void free_outbox(Outbox& box) {
  for (Message* message : box.spare) std::free(message);
}

}  // namespace marline::offload::wire
