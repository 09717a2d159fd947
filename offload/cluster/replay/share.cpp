// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads Message::words of the messages kPlan and kReplay: lists of 64-bit numbers.
#include "cluster/replay/share.hpp"

#include "base/report.hpp"
#include "cluster/base/words.hpp"

namespace marline::offload::cluster {

namespace {

// kPlan: the node's steps (PlanStep), one after another, as pass_step has them. kReplay: three numbers for the batch
// (ReplayBatch; its first_number is Message::task), two for each peer (write_peer), and two for each driver's word that
// has changed or task that is left out (write_change).
//
// A peer is a node that the steps name. Message::waits_for of kPlan lists the peers, and a step names a peer by its
// index in this list.
constexpr unsigned kRankShift = 24;
// In write_change, the bits from kRankShift on are the task's rank, and the bits below are the index of the driver's
// word, or kLeftOut: the task is left out.
constexpr uint64_t kLeftOut = (uint64_t{1} << kRankShift) - 1;

class Writer : public WordWriter<Writer> {
 public:
  explicit Writer(List<uint64_t>& to) : to_(to) {}
  void put(uint64_t word) { to_.push(word); }

 private:
  List<uint64_t>& to_;
};

class Reader : public WordReader<Reader> {
 public:
  explicit Reader(const Message& message) : message_(message) {}

  uint64_t get() {
    if (is_over()) fatal("cluster: node 0 has sent a plan of %zu words for a graph, which ends too early", at_);
    return message_.words[at_++];
  }
  [[nodiscard]] bool has(uint64_t) const { return true; }  // `get` ends the process instead
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

// `peer`: the member that names a place's peer, or the peer's index.
void pass_step(auto& words, auto& step, const auto& peer) {
  auto pass_place = [&](auto& place) { words.words(place.era, peer(place), place.rank); };
  words.words(step.task, step.predecessors);
  words.list(step.waits_for, pass_place);
  words.list(step.accesses, [&](auto& planned) {
    pass_access(words, planned.access);
    pass_place(planned.source);
  });
  words.list(step.words, [&](auto& word) { words.words(word); });
}

}  // namespace

void Share::write_step(const PlanStep& step, List<NodeNumber>& peers, List<uint64_t>& words) {
  Writer writer(words);
  pass_step(writer, step, [&](const PlanPlace& place) { return peer_of(place.node, peers); });
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

void Share::refuse_unknown(const PlanPlace& place) const {
  if (place.node < peers_.count() && place.era <= Era::kBefore) return;
  fatal("cluster: node 0 has sent a plan that names node %u of %zu, era %u", place.node, peers_.count(),
        static_cast<unsigned>(place.era));
}

void Share::read(const Message& plan) {
  for (const TaskPlace& peer : plan.waits_for) peers_.push({peer.node, 0, 0});
  for (Reader from(plan); !from.is_over();) {
    PlanStep& step = steps_.push({});
    pass_step(from, step, [](PlanPlace& place) -> NodeNumber& { return place.node; });
    for (const PlanPlace& place : step.waits_for) refuse_unknown(place);
    for (const PlanAccess& planned : step.accesses) refuse_unknown(planned.source);
  }
}

ReplayBatch Share::read_batch(const Message& replay) {
  Reader from(replay);
  ReplayBatch batch;
  batch.first_number = replay.task;
  batch.from = from.get();
  batch.to = from.get();
  batch.first_index = from.get();
  if (batch.from >= batch.to || batch.to > steps_.count()) {
    fatal("cluster: node 0 replays tasks %lu to %lu of a plan that has %zu here", batch.from, batch.to, steps_.count());
  }
  for (Peer& peer : peers_) {
    peer.now = from.get();
    peer.before = from.get();
  }
  left_out_.clear();
  while (!from.is_over()) {
    uint64_t what = from.get(), rank = what >> kRankShift, word = what & ((uint64_t{1} << kRankShift) - 1);
    if (word == kLeftOut) {
      left_out_.push(rank);
      (void)from.get();
      continue;
    }
    if (rank >= steps_.count() || word >= steps_[rank].words.count()) {
      fatal("cluster: node 0 changes word %lu of task %lu of a plan that has %zu tasks here", word, rank,
            steps_.count());
    }
    steps_[rank].words[word] = from.get();
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
