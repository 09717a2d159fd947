// SPDX-License-Identifier: Apache-2.0
//
// The model of slow links. Frames come from the poll of the wire below and are kept in a list per peer. All calls to
// the user come from this wire's poll, under its lock. `place`, too, is called only after the earlier frames have been
// delivered.
#include "wire/model/link_model.hpp"

#include "base/intrusive_list.hpp"
#include "base/lock.hpp"
#include "base/options.hpp"
#include "base/now.hpp"
#include "wire/base/give_up.hpp"
#include "wire/base/peers.hpp"
#include "wire/model/link_busy.hpp"
#include "wire/model/link_speed.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::wire {

namespace {

constexpr int kMostPerPoll = 64;
constexpr uint64_t kNever = ~uint64_t{0};
// Nanoseconds: if the next frame is due sooner, the caller polls and does not wait.
constexpr uint64_t kShort = 1'000'000;

// A frame in flight; or the loss of the peer, which is ordered after its last frame.
struct Kept {
  Kept* next;
  uint64_t due;
  char* bulk;
  const char* lost;  // the reason of the loss; null: this is a frame
  Frame frame;
  [[nodiscard]] uint64_t* words() { return reinterpret_cast<uint64_t*>(this + 1); }
};

struct Far {
  bool slow;  // connected by a modelled link; otherwise frames pass straight through
  LinkSpeed speed;
  LinkWords busy;
  IntrusiveList<Kept> kept;  // in the order of their arrival
  char* bulk;                // bulk of the frame that is arriving
};

struct ModelWire {
  const WireKind* below;
  Wire* wire;
  WireUser user;
  WireUser own;  // the functions that the wire below calls
  Far* peers = nullptr;
  int count = 0;
  LinkBusy busy;
  Lock poll_lock;  // the thread that holds it polls, and owns the lists
  std::atomic<uint64_t> next_due{kNever};
};

const WireKind* g_below = nullptr;

ModelWire* model_of(Wire* wire) { return reinterpret_cast<ModelWire*>(wire); }
const ModelWire* model_of(const Wire* wire) { return reinterpret_cast<const ModelWire*>(wire); }

Kept* make_kept(ModelWire* wire, size_t words) {
  void* memory = std::malloc(sizeof(Kept) + words * sizeof(uint64_t));
  if (memory == nullptr) give_up(wire->user, "no memory for frames that MARLINE_LINK delays");
  return new (memory) Kept{};
}

void* place(void* data, int peer, const Frame& frame, const uint64_t* words) {
  auto* wire = static_cast<ModelWire*>(data);
  Far& far = wire->peers[peer];
  if (!far.slow) return wire->user.place(wire->user.data, peer, frame, words);
  std::free(far.bulk);
  far.bulk = static_cast<char*>(std::malloc(frame.bulk));
  if (far.bulk == nullptr) give_up(wire->user, "no memory for %lu bytes that MARLINE_LINK delays", frame.bulk);
  return far.bulk;
}

void deliver(void* data, int peer, const Frame& frame, const uint64_t* words) {
  auto* wire = static_cast<ModelWire*>(data);
  Far& far = wire->peers[peer];
  if (!far.slow) return wire->user.deliver(wire->user.data, peer, frame, words);
  Kept* kept = make_kept(wire, frame.words);
  uint64_t bytes = sizeof frame + frame.words * sizeof(uint64_t) + frame.bulk;
  kept->due = pass_link(far.speed, far.busy, frame.sent, bytes, frame.bulk == 0);
  kept->bulk = frame.bulk != 0 ? far.bulk : nullptr;
  kept->frame = frame;
  far.bulk = nullptr;
  if (frame.words != 0) std::memcpy(kept->words(), words, frame.words * sizeof(uint64_t));
  far.kept.push(kept);
}

void lost(void* data, int peer, const char* why) {
  auto* wire = static_cast<ModelWire*>(data);
  Far& far = wire->peers[peer];
  if (!far.slow) return wire->user.lost(wire->user.data, peer, why);
  size_t bytes = std::strlen(why) + 1;
  Kept* kept = make_kept(wire, bytes / sizeof(uint64_t) + 1);
  kept->due = !far.kept.is_empty() ? far.kept.last()->due : 0;
  kept->lost = static_cast<char*>(std::memcpy(kept->words(), why, bytes));
  far.kept.push(kept);
}

void submit_ready(ModelWire* wire, int peer, Kept* kept) {
  const WireUser& user = wire->user;
  if (kept->lost != nullptr) return user.lost(user.data, peer, kept->lost);
  if (kept->bulk != nullptr) {
    void* to = user.place(user.data, peer, kept->frame, kept->words());
    if (to != nullptr) std::memcpy(to, kept->bulk, kept->frame.bulk);
  }
  user.deliver(user.data, peer, kept->frame, kept->words());
}

void drop_first(Far& far) {
  Kept* kept = far.kept.pop();
  std::free(kept->bulk);
  std::free(kept);
}

// Returns the peer with the earliest kept frame; -1: nothing is kept.
int find_first(const ModelWire* wire) {
  int first = -1;
  for (int i = 0; i < wire->count; ++i) {
    const Kept* kept = wire->peers[i].kept.first();
    if (kept != nullptr && (first < 0 || kept->due < wire->peers[first].kept.first()->due)) first = i;
  }
  return first;
}

int submit_due(ModelWire* wire) {
  uint64_t now = g_link_clock();
  int count = 0, peer;
  while ((peer = find_first(wire)) >= 0 && wire->peers[peer].kept.first()->due <= now && count < kMostPerPoll) {
    submit_ready(wire, peer, wire->peers[peer].kept.first());
    drop_first(wire->peers[peer]);
    ++count;
  }
  uint64_t next = peer >= 0 ? wire->peers[peer].kept.first()->due : kNever;
  uint64_t before = wire->next_due.exchange(next, std::memory_order_relaxed);
  if (next < before) wire->below->wake(wire->wire);  // the waiting thread may sleep past that time
  return count;
}

int poll(Wire* generic) {
  ModelWire* wire = model_of(generic);
  if (!wire->poll_lock.try_take()) return 0;
  int done = wire->below->poll(wire->wire);
  done += submit_due(wire);
  wire->poll_lock.release();
  return done;
}

void wait(Wire* generic, int milliseconds) {
  ModelWire* wire = model_of(generic);
  uint64_t due = wire->next_due.load(std::memory_order_relaxed);
  if (due == kNever) return wire->below->wait(wire->wire, milliseconds);
  uint64_t now = g_link_clock();
  if (due < now + kShort) return;
  uint64_t left = std::min<uint64_t>((due - now) / 1'000'000, 1000);
  bool sooner = milliseconds >= 0 && static_cast<uint64_t>(milliseconds) < left;
  wire->below->wait(wire->wire, sooner ? milliseconds : static_cast<int>(left));
}

int lowest_of_node(const ModelWire* wire, int peer) {
  int lowest = 0;
  while (!are_on_one_node(*wire->below->peer(wire->wire, lowest), *wire->below->peer(wire->wire, peer))) ++lowest;
  return lowest;
}

void open_far(ModelWire* wire, int peer, const Peer* self, const char* text) {
  Far& far = wire->peers[peer];
  const Peer* other = wire->below->peer(wire->wire, peer);
  if (are_on_one_node(*self, *other)) return;
  if (!are_on_one_machine(*self, *other)) {
    give_up(wire->user, "MARLINE_LINK delays only links between processes of one machine; process %d is on another",
            peer);
  }
  (void)read_link_speed(text, self->node, other->node, far.speed);  // with_link_model has checked it
  int sender = lowest_of_node(wire, peer), own = lowest_of_node(wire, wire->below->number(wire->wire));
  far.busy = {&wire->busy.from(sender), &wire->busy.card_out(sender), &wire->busy.card_in(own)};
  far.slow = true;
}

// The wire below makes no calls before the first poll.
void open_peers(ModelWire* wire) {
  int self = wire->below->number(wire->wire), lowest = lowest_of_node(wire, self);
  wire->count = wire->below->count(wire->wire);
  if (wire->count > LinkBusy::kMostPeers) give_up(wire->user, "MARLINE_LINK: %d processes are too many", wire->count);
  wire->busy.share(lowest == self ? 0 : wire->below->peer(wire->wire, lowest)->pid,
                   self == 0 ? 0 : wire->below->peer(wire->wire, 0)->pid);
  wire->peers = static_cast<Far*>(std::calloc(static_cast<size_t>(wire->count), sizeof(Far)));
  if (wire->peers == nullptr) give_up(wire->user, "no memory for a job of %d processes", wire->count);
  for (int i = 0; i < wire->count; ++i) {
    open_far(wire, i, wire->below->peer(wire->wire, self), option_value(Option::kLink));
  }
}

Wire* join(const Job& job, const WireUser* user) {
  void* memory = std::malloc(sizeof(ModelWire));
  if (memory == nullptr) give_up(*user, "no memory for the model of links");
  auto* wire = new (memory) ModelWire{};
  wire->below = g_below;
  wire->user = *user;
  wire->own = {wire, place, deliver, lost, user->fail, true};
  if (!wire->busy.make()) give_up(*user, "no shared memory for the model of links");
  wire->wire = wire->below->join(job, &wire->own);
  open_peers(wire);
  return reinterpret_cast<Wire*>(wire);
}

void leave(Wire* generic, bool all) {
  ModelWire* wire = model_of(generic);
  while (poll(generic) != 0 || wire->next_due.load(std::memory_order_relaxed) != kNever) wait(generic, 1);
  wire->below->leave(wire->wire, all);
  for (int i = 0; i < wire->count; ++i) {
    while (!wire->peers[i].kept.is_empty()) drop_first(wire->peers[i]);
    std::free(wire->peers[i].bulk);
  }
  wire->busy.close();
  std::free(wire->peers);
  wire->~ModelWire();
  std::free(wire);
}

int number(const Wire* wire) { return model_of(wire)->below->number(model_of(wire)->wire); }
int count(const Wire* wire) { return model_of(wire)->count; }
const Peer* peer(const Wire* wire, int number) { return model_of(wire)->below->peer(model_of(wire)->wire, number); }
bool has_room(Wire* wire, int peer) { return model_of(wire)->below->has_room(model_of(wire)->wire, peer); }
void wake(Wire* wire) { model_of(wire)->below->wake(model_of(wire)->wire); }

bool send(Wire* wire, int peer, const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing) {
  return model_of(wire)->below->send(model_of(wire)->wire, peer, frame, words, bulk, outgoing);
}

// MARLINE_LINK; null: links are as fast as they are.
const char* chosen_link() {
  const char* text = option_value(Option::kLink);
  if (text == nullptr) return nullptr;
  LinkSpeed any;
  const char* wrong = read_link_speed(text, "", "", any);
  if (wrong != nullptr) refuse_value(Option::kLink, text, wrong);
  return text;
}

const CheckedAtLoad g_checked(Option::kLink, [] { (void)chosen_link(); });

constinit const WireKind kModel = {"modelled", join, number, count, peer, send, has_room, poll, wait, wake, leave};

}  // namespace

uint64_t (*g_link_clock)() = now;

const WireKind* with_link_model(const WireKind* below) {
  if (chosen_link() == nullptr) return below;
  g_below = below;
  return &kModel;
}

}  // namespace marline::offload::wire
