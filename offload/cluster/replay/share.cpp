// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads Message::words of the messages kPlan and kReplay: lists of 64-bit numbers.
#include "cluster/replay/share.hpp"

#include "base/report.hpp"

namespace marline::offload::cluster {

namespace {

// kPlan: the node's steps (PlanStep), one after another. A step consists of five numbers (its task, its predecessors,
// and the counts of its three lists), then two numbers for each task in `waits_for`, six for each access, and the
// driver's words. kReplay: three numbers for the batch (ReplayBatch; its first_number is Message::task), two for each
// peer (write_peer), and two for each driver's word that has changed or task that is left out (write_change).
//
// A peer is a node that the steps name. Message::waits_for of kPlan lists the peers, and a step names a peer by its
// index in this list. These are the bits of the number for an access, which also says where its source is; in the
// number for a task in `waits_for` only the era and the peer are set.
constexpr uint64_t kMayWrite = 1, kFetched = 2, kSole = 4, kEarly = 8, kAfterEnd = 16, kEnd = 32;
constexpr unsigned kEraShift = 8, kPeerShift = 16, kRankShift = 24;
// In write_change, the bits from kRankShift on are the task's rank, and the bits below are the index of the driver's
// word, or kLeftOut: the task is left out.
constexpr uint64_t kLeftOut = (uint64_t{1} << kRankShift) - 1;

class Reader {
 public:
  explicit Reader(const Message& message) : message_(message) {}

  uint64_t next() {
    if (is_over()) fatal("cluster: node 0 has sent a plan of %zu words for a graph, which ends too early", at_);
    return message_.words[at_++];
  }
  [[nodiscard]] bool is_over() const { return at_ == message_.words.count(); }

 private:
  const Message& message_;
  size_t at_ = 0;
};

uint64_t peer_of(NodeNumber node, List<NodeNumber>& peers) {
  for (size_t i = 0; i < peers.count(); ++i) {
    if (peers[i] == node) return i;
  }
  peers.push(node);
  return peers.count() - 1;
}

uint64_t pack(const PlanPlace& place, List<NodeNumber>& peers) {
  return static_cast<uint64_t>(place.era) << kEraShift | peer_of(place.node, peers) << kPeerShift;
}

PlanPlace unpack(uint64_t packed, uint64_t rank) {
  return {static_cast<Era>(packed >> kEraShift & 0xff), static_cast<NodeNumber>(packed >> kPeerShift), rank};
}

uint64_t flags_of(const PlannedAccess& access) {
  return (access.may_write ? kMayWrite : 0) | (access.is_fetched ? kFetched : 0) | (access.is_sole ? kSole : 0) |
         (access.is_early ? kEarly : 0) | (access.is_after_end ? kAfterEnd : 0) | (access.is_end ? kEnd : 0);
}

PlanAccess read_access(Reader& from) {
  PlanAccess read;
  PlannedAccess& access = read.access;
  access.range.buffer = from.next();
  access.range.offset = from.next();
  access.range.bytes = from.next();
  uint64_t packed = from.next();
  access.may_write = (packed & kMayWrite) != 0;
  access.is_fetched = (packed & kFetched) != 0;
  access.is_sole = (packed & kSole) != 0;
  access.is_early = (packed & kEarly) != 0;
  access.is_after_end = (packed & kAfterEnd) != 0;
  access.is_end = (packed & kEnd) != 0;
  read.source = unpack(packed, from.next());
  access.home = static_cast<NodeNumber>(from.next());
  return read;
}

}  // namespace

void Share::write_step(const PlanStep& step, List<NodeNumber>& peers, List<uint64_t>& words) {
  for (uint64_t word : {step.task, uint64_t{step.predecessors}, uint64_t{step.waits_for.count()},
                        uint64_t{step.accesses.count()}, uint64_t{step.words.count()}}) {
    words.push(word);
  }
  for (const PlanPlace& place : step.waits_for) {
    words.push(pack(place, peers));
    words.push(place.rank);
  }
  for (const PlanAccess& planned : step.accesses) {
    const PlannedAccess& access = planned.access;
    for (uint64_t word : {access.range.buffer, access.range.offset, access.range.bytes,
                          flags_of(access) | pack(planned.source, peers), planned.source.rank, uint64_t{access.home}}) {
      words.push(word);
    }
  }
  for (uint64_t word : step.words) words.push(word);
}

void Share::write_batch(const ReplayBatch& batch, List<uint64_t>& words) {
  for (uint64_t word : {batch.from, batch.to, batch.first_index}) words.push(word);
}

void Share::write_peer(uint64_t first_now, uint64_t first_before, List<uint64_t>& words) {
  words.push(first_now);
  words.push(first_before);
}

void Share::write_change(uint64_t rank, size_t word, uint64_t value, List<uint64_t>& words) {
  words.push(rank << kRankShift | word);
  words.push(value);
}

void Share::write_left_out(uint64_t rank, List<uint64_t>& words) { write_change(rank, kLeftOut, 0, words); }

PlanPlace Share::checked(const PlanPlace& place) const {
  if (place.node < peers_.count() && place.era <= Era::kBefore) return place;
  fatal("cluster: node 0 has sent a plan that names node %u of %zu, era %u", place.node, peers_.count(),
        static_cast<unsigned>(place.era));
}

void Share::read(const Message& plan) {
  for (const TaskPlace& peer : plan.waits_for) peers_.push({peer.node, 0, 0});
  for (Reader from(plan); !from.is_over();) {
    PlanStep& step = steps_.push({});
    step.task = from.next();
    step.predecessors = static_cast<uint32_t>(from.next());
    uint64_t waits_for = from.next(), accesses = from.next(), words = from.next();
    for (uint64_t i = 0; i < waits_for; ++i) {
      uint64_t packed = from.next();
      step.waits_for.push(checked(unpack(packed, from.next())));
    }
    for (uint64_t i = 0; i < accesses; ++i) (void)checked(step.accesses.push(read_access(from)).source);
    for (uint64_t i = 0; i < words; ++i) step.words.push(from.next());
  }
}

ReplayBatch Share::read_batch(const Message& replay) {
  Reader from(replay);
  ReplayBatch batch;
  batch.first_number = replay.task;
  batch.from = from.next();
  batch.to = from.next();
  batch.first_index = from.next();
  if (batch.from >= batch.to || batch.to > steps_.count()) {
    fatal("cluster: node 0 replays tasks %lu to %lu of a plan that has %zu here", batch.from, batch.to, steps_.count());
  }
  for (Peer& peer : peers_) {
    peer.now = from.next();
    peer.before = from.next();
  }
  left_out_.clear();
  while (!from.is_over()) {
    uint64_t what = from.next(), rank = what >> kRankShift, word = what & ((uint64_t{1} << kRankShift) - 1);
    if (word == kLeftOut) {
      left_out_.push(rank);
      (void)from.next();
      continue;
    }
    if (rank >= steps_.count() || word >= steps_[rank].words.count()) {
      fatal("cluster: node 0 changes word %lu of task %lu of a plan that has %zu tasks here", word, rank,
            steps_.count());
    }
    steps_[rank].words[word] = from.next();
  }
  return batch;
}

TaskPlace Share::place_of(const PlanPlace& place) const {
  const Peer& peer = peers_[place.node];
  uint64_t first = place.era == Era::kNow ? peer.now : place.era == Era::kBefore ? peer.before : 0;
  return {peer.node, first + place.rank};
}

Message Share::assignment(const ReplayBatch& batch, uint64_t rank) const {
  const PlanStep& step = steps_[rank];
  Message message;
  message.kind = MessageKind::kAssign;
  message.index = batch.first_index + rank;
  message.task = batch.first_number + step.task;
  message.predecessors = step.predecessors;
  for (uint64_t other : left_out_) message.is_cancelled = message.is_cancelled || other == rank;
  for (const PlanPlace& place : step.waits_for) message.waits_for.push(place_of(place));
  for (const PlanAccess& planned : step.accesses) {
    PlannedAccess& access = message.accesses.push(planned.access);
    access.source = place_of(planned.source);
  }
  for (uint64_t word : step.words) message.words.push(word);
  return message;
}

}  // namespace marline::offload::cluster
