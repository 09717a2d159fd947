// SPDX-License-Identifier: Apache-2.0
//
// Chooses which copy follows which, and which part is sent next.
#include "device/remote/program/fan_out.hpp"

#include <algorithm>
#include <cassert>

namespace marline::offload::device {

namespace {

constexpr uint64_t kParts = 128, kLeast = 256 << 10, kMost = 1 << 20, kForOne = 2 << 20;
constexpr uint64_t kPage = 4096;

bool is_same(const FanOutSource& a, const FanOutSource& b) {
  return a.place == b.place && a.address == b.address && a.bytes == b.bytes;
}

bool is_from_program(const FanOutCopy& copy) { return copy.from == nullptr && copy.source.place == 0; }

bool is_through(const FanOutCopy& copy) {
  if (is_from_program(copy) && copy.gone < copy.count) return false;
  return (is_from_program(copy) && !copy.is_gpu) || copy.arrived == copy.count;
}

// How many parts followers may take from the copy.
uint32_t available(const FanOutCopy& copy) { return is_from_program(copy) && !copy.is_gpu ? copy.sent : copy.arrived; }

bool concerns_gpu(const FanOutCopy& copy) {
  return copy.is_gpu || (copy.from != nullptr ? copy.from->is_gpu : copy.source.is_gpu);
}

bool may_send(const FanOutCopy& copy) {
  if (!copy.is_open || copy.sent == copy.count) return false;
  if (concerns_gpu(copy) && copy.sent - copy.arrived >= FanOut::kMostUnderWay) return false;
  if (copy.from != nullptr) return copy.sent < available(*copy.from);
  if (!is_from_program(copy)) return true;
  return copy.sent - copy.arrived < (copy.gone == 0 ? FanOut::kFirst : FanOut::kMostUnderWay);
}

}  // namespace

uint64_t FanOut::part_of(const FanOutSource& source) {
  if (source.place != 0) return kMost;
  if (source.is_for_one) return kForOne;
  return std::clamp((source.bytes / kParts + kPage - 1) / kPage * kPage, kLeast, kMost);
}

// The last copy to the same node; else the last copy that brought the bytes to another node, unless the source is on
// the copy's own node. A copy that joined late usually has no such followers yet, and has the fewest parts so far.
FanOutCopy* FanOut::find_predecessor(const FanOutCopy& copy) const {
  FanOutCopy *here = nullptr, *chain = nullptr;
  for (FanOutCopy* other = first_; other != nullptr; other = other->after) {
    // A copy that is not open yet may wait for a task. A copy that follows it and blocks its thread could keep that
    // task from running.
    if (!other->is_open || !is_same(other->source, copy.source) || is_through(*other)) continue;
    if (other->node == copy.node) here = other;
    if (other->crosses) chain = other;
  }
  if (here != nullptr) return here;
  return copy.node != copy.source.node ? chain : nullptr;
}

void FanOut::join(FanOutCopy* copy) {
  uint64_t part = part_of(copy->source);
  copy->count = static_cast<uint32_t>((copy->source.bytes + part - 1) / part);
  copy->from = find_predecessor(*copy);
  copy->crosses = copy->node != (copy->from != nullptr ? copy->from->node : copy->source.node);
  if (copy->from != nullptr) {
    copy->next_follower = copy->from->first_follower;
    copy->from->first_follower = copy;
    ++copy->from->followers;
  }
  copy->before = last_;
  (last_ != nullptr ? last_->after : first_) = copy;
  last_ = copy;
}

void FanOut::open(FanOutCopy* copy) {
  copy->is_open = true;
  make_ready(copy);
}

void FanOut::make_ready(FanOutCopy* copy) {
  if (copy->is_ready || !may_send(*copy)) return;
  copy->is_ready = true;
  copy->next = ready_;
  ready_ = copy;
}

void FanOut::make_followers_ready(const FanOutCopy* copy) {
  for (FanOutCopy* follower = copy->first_follower; follower != nullptr; follower = follower->next_follower) {
    make_ready(follower);
  }
}

bool FanOut::next_part(FanOutPart& part) {
  FanOutCopy* copy = ready_;
  if (copy == nullptr) return false;
  uint64_t most = part_of(copy->source), offset = copy->sent * most;
  bool from_program = is_from_program(*copy);
  // A part needs no answer if no later part waits for its arrival.
  bool is_answered = !from_program || copy->is_gpu || copy->count - copy->sent > kMostUnderWay;
  part = {copy, copy->sent, offset, std::min(most, copy->source.bytes - offset), from_program, is_answered};
  ++copy->sent;
  if (!may_send(*copy)) {
    ready_ = copy->next;
    copy->is_ready = false;
  }
  if (from_program) make_followers_ready(copy);  // they come before the copy itself in the list
  return true;
}

void FanOut::leave_predecessor(FanOutCopy* copy) {
  FanOutCopy** link = &copy->from->first_follower;
  while (*link != copy) link = &(*link)->next_follower;
  *link = copy->next_follower;
  --copy->from->followers;
}

// If the copy has ended, prepends it to `ended`.
FanOutCopy* FanOut::end_if_through(FanOutCopy* copy, FanOutCopy* ended) {
  if (!is_through(*copy) || copy->followers != 0) return ended;
  assert(!copy->is_ready);
  (copy->before != nullptr ? copy->before->after : first_) = copy->after;
  (copy->after != nullptr ? copy->after->before : last_) = copy->before;
  copy->next = ended;
  return copy;
}

// Called when a part has gone or arrived: parts of the copy or of its followers may have waited for that.
FanOutCopy* FanOut::move_on(FanOutCopy* copy) {
  make_ready(copy);
  make_followers_ready(copy);
  if (!is_through(*copy)) return nullptr;
  FanOutCopy* ended = nullptr;
  if (copy->from != nullptr) {
    leave_predecessor(copy);
    ended = end_if_through(copy->from, ended);
  }
  return end_if_through(copy, ended);
}

FanOutCopy* FanOut::go(FanOutCopy* copy) {
  assert(copy->gone < copy->sent);
  ++copy->gone;
  return move_on(copy);
}

FanOutCopy* FanOut::arrive(FanOutCopy* copy) {
  assert(copy->arrived < copy->sent);
  ++copy->arrived;
  return move_on(copy);
}

}  // namespace marline::offload::device
