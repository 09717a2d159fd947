// SPDX-License-Identifier: Apache-2.0
//
// Sends the parts of large copies in the order that FanOut decides. A thread chooses and sends parts under one lock, so
// that the parts of a copy are sent in order. Every part is an operation of the progress hook. The copy's own thread
// sends only its first parts; polls send the others. So a thread that begins several copies has begun all of them
// before the first one ends.
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

// The parts of a copy are reported to FanOut::arrive in their order, though parts of a GPU may arrive in another order.
// They may be reported to FanOut::go in another order, as parts that the wire has copied at once are reported by the
// next poll only. That does no harm: FanOut only counts them.
struct SharedPart : Operation, Outgoing {
  SharedCopy* copy;
  bool has_arrived = false;  // guarded by g_lock
  SharedPart* next;          // the next part in g_copied
};

struct SharedCopy : FanOutCopy {
  const CopyWay* way;
  marline_event_t event = MARLINE_EVENT_INIT;
  SharedPart* parts;  // `count` of them
};

// The caller holds g_lock. The part has arrived. Returns how many parts can now be reported to FanOut::arrive, in
// order.
uint32_t newly_arrived(SharedPart* part) {
  const SharedCopy* copy = part->copy;
  part->has_arrived = true;
  uint32_t end = copy->arrived;
  while (end < copy->count && copy->parts[end].has_arrived) ++end;
  return end - copy->arrived;
}

Lock g_lock;  // held for each part of a copy, which is much longer on its way
FanOut g_fan_out;
// Parts that the wire has copied at once. Senders push them, polls take them.
std::atomic<SharedPart*> g_copied{nullptr};

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

// The caller holds g_lock.
void send_parts() {
  FanOutPart part;
  while (g_fan_out.next_part(part)) send_part(part);
}

enum class Moved : uint8_t { kGone, kArrived };

// The caller holds g_lock. Returns the copies that end: only the last arrival that is reported can end copies.
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
  while (ended != nullptr) {  // after the fulfilment, its storage belongs to the thread that waits for it
    auto* copy = static_cast<SharedCopy*>(ended);
    ended = ended->next;
    marline_event_fulfill(&copy->event);
  }
}

// Called after FanOut::join, which counts the parts.
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
    SharedPart* next = part->next;  // the copy may end in `note`
    note(part, Moved::kGone);
    part = next;
  }
  return count;
}

}  // namespace marline::offload::device
