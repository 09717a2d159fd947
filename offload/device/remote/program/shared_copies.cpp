// SPDX-License-Identifier: Apache-2.0
//
// See the header. One lock is around what is to be sent next, and around the sending, so that the parts of a copy are
// sent in order. Every part is an operation of the progress hook. Behind a copy's first parts, which its own thread
// sends, only polls send: thus a thread that begins several copies has begun all of them before the first one ends.
#include "device/remote/program/shared_copies.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/contract/wait.hpp"
#include "device/remote/program/fan_out.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace marline::offload::device {

namespace {

struct SharedCopy;

// Parts of one copy are told to have arrived in their order, though those of a GPU may arrive in another one. They may
// be said to be gone in another one, as what a wire has taken at once is counted by the next poll only: but that is no
// more than a number.
struct SharedPart : Operation, Outgoing {
  SharedCopy* copy;
  bool has_arrived = false;  // under the lock
  SharedPart* next;          // in g_copied
};

struct SharedCopy : FanOutCopy {
  const CopyWay* way;
  marline_event_t event = MARLINE_EVENT_INIT;
  SharedPart* parts;  // as many as there are
};

// With the lock. How many parts have arrived behind those of which that has been told.
uint32_t newly_arrived(SharedPart* part) {
  const SharedCopy* copy = part->copy;
  part->has_arrived = true;
  uint32_t end = copy->arrived;
  while (end < copy->count && copy->parts[end].has_arrived) ++end;
  return end - copy->arrived;
}

Lock g_lock;
FanOut g_fan_out;
std::atomic<SharedPart*> g_copied{nullptr};  // which the wire has taken at once; pushed by senders, taken by polls

void push_copied(SharedPart* part) {
  part->next = g_copied.load(std::memory_order_relaxed);
  while (!g_copied.compare_exchange_weak(part->next, part, std::memory_order_release, std::memory_order_relaxed)) {
  }  // pairs with end_copied_parts
}

void send_part(const FanOutPart& part) {
  auto* copy = static_cast<SharedCopy*>(part.copy);
  const FanOutCopy* from = copy->from;
  SharedPart* own = &copy->parts[part.number];
  uint64_t to = copy->to + part.offset;
  uint64_t address = (from != nullptr ? from->to : copy->source.address) + part.offset;
  if (!part.is_from_program) {
    int sender = from != nullptr ? from->place : copy->source.place;
    return copy->way->forward(copy->place, to, sender, address, part.bytes, own);
  }
  auto* bytes = reinterpret_cast<const void*>(address);
  if (copy->way->write(copy->place, to, bytes, part.bytes, own, part.is_answered ? own : nullptr)) push_copied(own);
}

// With the lock.
void send_parts() {
  FanOutPart part;
  while (g_fan_out.next_part(part)) send_part(part);
}

enum class Moved : uint8_t { kGone, kArrived };

// With the lock. Copies end by the last part of one that arrives, if by any.
FanOutCopy* move(SharedPart* part, Moved moved) {
  if (moved == Moved::kGone) return g_fan_out.go(part->copy);
  FanOutCopy* ended = nullptr;
  for (uint32_t left = newly_arrived(part); left > 0; --left) ended = g_fan_out.arrive(part->copy);
  return ended;
}

void note(SharedPart* part, Moved moved) {
  FanOutCopy* ended;
  {
    Guard guard(g_lock);
    ended = move(part, moved);
    send_parts();
  }
  while (ended != nullptr) {  // its storage is its waiter's again
    auto* copy = static_cast<SharedCopy*>(ended);
    ended = ended->next;
    marline_event_fulfill(&copy->event);
  }
}

// Behind FanOut::join, which counts the parts.
void make_parts(SharedCopy& copy) {
  copy.parts = static_cast<SharedPart*>(std::malloc(copy.count * sizeof(SharedPart)));
  if (copy.parts == nullptr) fatal("no memory for the %u parts of a copy to a node", copy.count);
  for (uint32_t i = 0; i < copy.count; ++i) {
    auto* part = new (copy.parts + i) SharedPart{};
    part->copy = &copy;
    part->ended = [](Operation* operation) {
      note(static_cast<SharedPart*>(operation), Moved::kArrived);
      return true;
    };
    part->sent = [](Outgoing* outgoing) {
      auto* own = static_cast<SharedPart*>(outgoing);
      own->copy->way->note_ended();
      note(own, Moved::kGone);
    };
  }
}

}  // namespace

void copy_shared(const CopyWay& way, int to_place, uint64_t to, int from_place, uint64_t from, size_t bytes,
                 Device* waits_for, const char* what) {
  SharedCopy copy;
  marline_event_init(&copy.event);
  copy.way = &way;
  bool is_for_one = !way.is_gpu(to_place) && way.has_one_device();
  copy.source = {from_place, way.node_of(from_place), from, bytes, way.is_gpu(from_place), is_for_one};
  copy.place = to_place;
  copy.node = way.node_of(to_place);
  copy.is_gpu = way.is_gpu(to_place);
  copy.to = to;
  {
    Guard guard(g_lock);
    g_fan_out.join(&copy);
  }
  make_parts(copy);
  if (copy.from != nullptr || from_place != kProgramPlace) way.confirm(to_place);
  {
    Guard guard(g_lock);
    g_fan_out.open(&copy);
    send_parts();
  }
  wait_or_progress(&copy.event, waits_for, what, bytes);
  std::free(copy.parts);
}

int end_copied_parts() {
  if (g_copied.load(std::memory_order_relaxed) == nullptr) return 0;
  SharedPart* part = g_copied.exchange(nullptr, std::memory_order_acquire);  // pairs with push_copied
  int count = 0;
  for (; part != nullptr; ++count) {
    SharedPart* next = part->next;  // the copy may end
    note(part, Moved::kGone);
    part = next;
  }
  return count;
}

}  // namespace marline::offload::device
