// SPDX-License-Identifier: Apache-2.0
//
// Receives frames. The receives of the slots are posted in the order of the ring, and each of them takes a message from
// any process: MPI fills them in that order, and takes the messages of one process in the order in which they were sent
// (MPI 3.1, 3.5). So handling the slots in the order of the ring keeps the order of each pair.
//
// While the bulk of a frame is in flight, the later frames of its pair are held: they are copied, at most kWindow of
// them, and their bulks wait in MPI. `place` is called for a held frame when the frames before it have been delivered.
#include "wire/mpi/inbox.hpp"

#include "wire/mpi/give_up.hpp"
#include "wire/mpi/outbox.hpp"
#include "wire/mpi/pieces.hpp"

#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

void post(Wire* wire, Slot& slot) {
  slot.arrived = slot.handled = false;
  MpiSection section(wire);
  check(wire,
        mpi.irecv(slot.data, static_cast<int>(kMostBytes), mpi.byte, MPI_ANY_SOURCE, MPI_ANY_TAG, wire->frames,
                  &slot.request),
        "MPI_Irecv");
}

[[nodiscard]] bool test_slot(Wire* wire, Slot& slot) {
  if (slot.arrived) return true;
  int done = 0;
  MpiSection section(wire);
  check(wire, mpi.test(&slot.request, &done, &slot.status), "MPI_Test");
  slot.arrived = done != 0;
  return slot.arrived;
}

[[noreturn]] void refuse(Wire* wire, int peer, const char* what) {
  give_up(&wire->user, "process %d sent a damaged message behind its frame %llu: %s", peer,
          static_cast<unsigned long long>(wire->inboxes[peer].sequence), what);
}

// Checks the next frame of a message that has `left` bytes left. Returns the number of the frame's own bytes.
uint64_t check_frame(Wire* wire, int peer, const Frame* frame, uint64_t left) {
  uint64_t& last = wire->inboxes[peer].sequence;
  if (left < sizeof(Frame)) refuse(wire, peer, "it ends within a frame");
  if (frame->job != wire->job) refuse(wire, peer, "a frame of another job");
  if (frame->sequence != last + 1) refuse(wire, peer, "a frame out of sequence");
  if (frame->words > kMostWords || bytes_of(*frame) > left)
    refuse(wire, peer, "a frame that is longer than the message");
  ++last;
  return bytes_of(*frame);
}

void deliver(Wire* wire, int peer, const Frame* frame) {
  const auto* words = reinterpret_cast<const uint64_t*>(frame + 1);
  wire->user.deliver(wire->user.data, peer, *frame, words);
  Outbox& box = wire->outboxes[peer];
  const uint32_t taken = box.taken.load(std::memory_order_relaxed) + 1;
  box.taken.store(taken, std::memory_order_relaxed);
  // Sends credits for half a window: they arrive before the peer has used up the other half.
  if (taken - box.reported.load(std::memory_order_relaxed) >= kWindow / 2) send_notice(wire, peer, kCreditsTag);
}

void* place(Wire* wire, int peer, const Frame* frame) {
  return wire->user.place(wire->user.data, peer, *frame, reinterpret_cast<const uint64_t*>(frame + 1));
}

void take_inlined(Wire* wire, int peer, const Frame* frame) {
  if (frame->bulk == 0) return;
  const char* bulk = reinterpret_cast<const char*>(frame + 1) + 8 * frame->words;
  if (void* to = place(wire, peer, frame)) std::memcpy(to, bulk, frame->bulk);
}

void hold(Wire* wire, int peer, const Frame* frame, uint64_t bytes, int tag) {
  Inbox& box = wire->inboxes[peer];
  auto* arrived = static_cast<Arrived*>(std::malloc(sizeof(Arrived) + bytes));
  if (arrived == nullptr) give_up(&wire->user, "no memory for a frame of %zu bytes", size_t{bytes});
  arrived->tag = tag;
  std::memcpy(arrived->frame(), frame, bytes);
  box.held.push(arrived);
}

void drop_first(Inbox& box) { std::free(box.held.pop()); }

// Starts to receive the bulk of the first held frame.
void start_bulk(Wire* wire, int peer) {
  Inbox& box = wire->inboxes[peer];
  const Frame* frame = box.held.first()->frame();
  box.bulk = Pieces{};
  box.bulk.bytes = frame->bulk;
  box.bulk.peer = peer;
  box.bulk.at = static_cast<char*>(place(wire, peer, frame));
  if (box.bulk.at == nullptr) {
    box.bulk.dropped = true;
    box.bulk.at = static_cast<char*>(take_memory(&wire->user, frame->bulk < kPiece ? frame->bulk : kPiece));
  }
  box.receiving = true;
  ++wire->receiving;
  start_pieces(wire, box.bulk);
}

void say_goodbye(Wire* wire, int peer) {
  wire->inboxes[peer].said_goodbye = true;
  close_outbox(wire, peer);
}

// Handles a frame when its turn has come. Its bulk, if any, is in its message.
void finish(Wire* wire, int peer, const Frame* frame, int tag) {
  if (tag == kByeTag) return say_goodbye(wire, peer);
  take_inlined(wire, peer, frame);
  deliver(wire, peer, frame);
}

[[nodiscard]] bool has_own_bulk(const Frame* frame, int tag) { return tag == kFrameTag && frame->bulk > kMostInlined; }

void take_frame(Wire* wire, int peer, const Frame* frame, uint64_t bytes, int tag) {
  Inbox& box = wire->inboxes[peer];
  if (box.held.is_empty() && !has_own_bulk(frame, tag)) return finish(wire, peer, frame, tag);
  const bool is_first = box.held.is_empty();
  hold(wire, peer, frame, bytes, tag);
  if (is_first) start_bulk(wire, peer);
}

// Handles a message of frames: each frame but the last is padded.
void take_frames(Wire* wire, int peer, const char* at, uint64_t left) {
  for (;;) {
    const auto* frame = reinterpret_cast<const Frame*>(at);
    const uint64_t own = check_frame(wire, peer, frame, left), step = padded(own);
    if (frame->credits != 0) add_credits(wire, peer, frame->credits);
    take_frame(wire, peer, frame, own, kFrameTag);
    if (own == left) return;
    at += step;
    left = step < left ? left - step : 0;
  }
}

void handle(Wire* wire, Slot& slot) {
  const int peer = slot.status.MPI_SOURCE, tag = slot.status.MPI_TAG;
  int bytes = 0;
  check(wire, mpi.get_count(&slot.status, mpi.byte, &bytes), "MPI_Get_count", peer);
  if (tag == kFrameTag) return take_frames(wire, peer, slot.data, static_cast<uint64_t>(bytes));
  const auto* frame = reinterpret_cast<const Frame*>(slot.data);
  const bool is_notice = tag == kCreditsTag || tag == kByeTag;
  if (!is_notice || bytes != sizeof(Frame) || frame->job != wire->job) refuse(wire, peer, "a notice that is none");
  if (frame->credits != 0) add_credits(wire, peer, frame->credits);
  if (tag == kByeTag) take_frame(wire, peer, frame, sizeof(Frame), tag);
}

// The bulk of the first held frame is complete: delivers that frame, and the frames after it up to the next one with a
// bulk of its own.
int release_held(Wire* wire, int peer) {
  Inbox& box = wire->inboxes[peer];
  if (box.bulk.dropped) std::free(box.bulk.at);
  box.receiving = false;
  --wire->receiving;
  deliver(wire, peer, box.held.first()->frame());
  drop_first(box);
  int released = 1;
  while (!box.held.is_empty()) {
    if (has_own_bulk(box.held.first()->frame(), box.held.first()->tag)) {
      start_bulk(wire, peer);
      break;
    }
    finish(wire, peer, box.held.first()->frame(), box.held.first()->tag);
    ++released;
    drop_first(box);
  }
  return released;
}

// The slot that was handled last is posted again only when the next slot is looked at, so that an answer need not wait
// for the post.
Slot& oldest_slot(Wire* wire) {
  Slot& before = wire->slots[(wire->head + kSlots - 1) % kSlots];
  if (before.handled) post(wire, before);
  return wire->slots[wire->head];
}

// Handles one slot. A test of another slot would make MPI look at all that it has, which the next call does anyway.
int service_slots(Wire* wire) {
  Slot& slot = oldest_slot(wire);
  if (!test_slot(wire, slot)) return 0;
  handle(wire, slot);
  slot.handled = true;
  wire->head = (wire->head + 1) % kSlots;
  return 1;
}

}  // namespace

void open_slots(Wire* wire) {
  for (Slot& slot : wire->slots) {
    slot.data = static_cast<char*>(std::malloc(kMostBytes));  // most of it is never touched
    if (slot.data == nullptr) give_up(&wire->user, "no memory for %zu bytes of the wire mpi", kMostBytes);
    post(wire, slot);
  }
}

void close_slots(Wire* wire) {
  for (Slot& slot : wire->slots) {
    if (slot.arrived || slot.handled) continue;
    MpiSection section(wire);
    check(wire, mpi.cancel(&slot.request), "MPI_Cancel");
    check(wire, mpi.wait(&slot.request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
}

bool has_arrived(Wire* wire) {
  if (test_slot(wire, oldest_slot(wire))) return true;
  for (int peer = 0; wire->receiving != 0 && peer < wire->count; ++peer) {
    Inbox& box = wire->inboxes[peer];
    if (box.receiving && test_pieces(wire, box.bulk) != Progress::kNone) return true;
  }
  return false;
}

int service_inboxes(Wire* wire) {
  int handled = service_slots(wire);
  for (int peer = 0; wire->receiving != 0 && peer < wire->count; ++peer) {
    Inbox& box = wire->inboxes[peer];
    if (!box.receiving) continue;
    const Progress progress = test_pieces(wire, box.bulk);
    if (progress == Progress::kThrough) handled += release_held(wire, peer);
    if (progress == Progress::kSome) ++handled;
  }
  return handled;
}

void free_inboxes(Wire* wire) {
  for (int peer = 0; peer < wire->count; ++peer) {
    while (!wire->inboxes[peer].held.is_empty()) drop_first(wire->inboxes[peer]);
  }
  for (Slot& slot : wire->slots) std::free(slot.data);
}

}  // namespace marline::offload::wire
