// SPDX-License-Identifier: Apache-2.0
//
// Sends frames on the links of the wire `local`, and polls them.
#include "wire/local/local.hpp"

#include "wire/base/give_up.hpp"
#include "wire/local/host_watch.hpp"

#include <sys/epoll.h>
#include <unistd.h>

namespace marline::offload::wire {

namespace {

constexpr int kFramesPerPoll = 64;
constexpr int64_t kBytesPerVisit = 1 << 20;
constexpr unsigned kPollsPerLook = 64;  // polls between two looks at sockets that only show that a peer is alive
constexpr unsigned kPollsPerLookAtStreams = 4;  // the same if there are TCP links and the polls find frames in rings
constexpr int kMostReady = 32;
constexpr unsigned kPollsPerLookAtHosts = 1024;   // polls in a row, without a wait
constexpr uint64_t kLookAtHosts = 1'000'000'000;  // nanoseconds between two looks, at least

int number(const Wire* wire) { return local_of(wire)->number; }
int count(const Wire* wire) { return local_of(wire)->count; }
const Peer* peer(const Wire* wire, int number) { return &local_of(wire)->peers[number]; }
bool has_room(Wire* wire, int peer) { return local_of(wire)->links[peer].has_room(); }

bool send(Wire* generic, int peer, const Frame& given, const uint64_t* words, const void* bulk, Outgoing* outgoing) {
  LocalWire* wire = local_of(generic);
  Frame frame = given;
  frame.job = wire->job_word;
  frame.sent = now();
  frame.incarnation = 0;
  Link::Sent sent = wire->links[peer].send(frame, words, bulk, outgoing);
  note_sent(wire, sent);
  return sent == Link::Sent::kAll || frame.bulk == 0 || outgoing == nullptr;
}

// Closes a link after its last bytes have been decoded.
void finish_link(LocalWire* wire, Link& link) {
  link.gone.store(true);
  {
    Guard guard(link.lock);  // no sender uses the socket any more
    int socket = link.transport.socket.exchange(-1, std::memory_order_relaxed);
    epoll_ctl(wire->sockets, EPOLL_CTL_DEL, socket, nullptr);
    close(socket);
  }
  if (link.has_left || wire->leaves_alone) return;
  const char* why = link.why != nullptr ? link.why : kHasEnded;
  wire->user.lost(wire->user.data, link.peer, why);
}

bool is_finished(const Link& link) {
  if (!link.ended.load(std::memory_order_relaxed) || link.gone.load(std::memory_order_relaxed)) return false;
  if (link.why != nullptr) return true;
  const Transport& t = link.transport;
  return t.shared ? t.in.is_empty() : t.stage_from == t.stage_to;
}

// Returns how much has happened. A received part of a bulk counts, too: more of it follows.
int visit(LocalWire* wire, Link& link, int most) {
  Visit visit = {.user = &wire->user, .frames_left = most, .bytes_left = kBytesPerVisit};
  link.receive(visit);
  if (link.unreported.load(std::memory_order_relaxed) >= kReportAtLeast) {
    note_sent(wire, link.send_control(control_frame(wire, ControlKind::kCredits)));
  }
  int done = most - visit.frames_left;
  if (done == 0 && visit.bytes_left != kBytesPerVisit) done = 1;
  if (!is_finished(link)) return done;
  finish_link(wire, link);
  return done + 1;
}

int visit_inputs(LocalWire* wire) {
  int delivered = 0, i = 0;
  for (; i < wire->count && delivered < kFramesPerPoll; ++i) {
    Link& link = wire->links[(wire->first + i) % wire->count];
    if (link.has_input()) delivered += visit(wire, link, kFramesPerPoll - delivered);
  }
  wire->first = (wire->first + i) % wire->count;
  return delivered;
}

// The epoll is level-triggered: a socket that is not read now is reported again.
int visit_sockets(LocalWire* wire) {
  epoll_event ready[kMostReady];
  int delivered = 0, found = epoll_wait(wire->sockets, ready, kMostReady, 0);
  for (int i = 0; i < found; ++i) {
    Link& link = *static_cast<Link*>(ready[i].data.ptr);
    bool input = (ready[i].events & ~static_cast<uint32_t>(EPOLLOUT)) != 0;
    if (!input || link.gone.load(std::memory_order_relaxed)) continue;
    // In shared memory, the socket reports only the end.
    if (link.transport.shared) link.ended.store(true, std::memory_order_relaxed);
    delivered += visit(wire, link, kFramesPerPoll);
  }
  return delivered;
}

// Finds a machine that is silent while data to it is in flight. The system reports other silent machines.
int look_at_hosts(LocalWire* wire) {
  uint64_t time = now();
  int lost = 0;
  if (time - wire->looked_at_hosts < kLookAtHosts) return 0;
  wire->looked_at_hosts = time;
  for (int i = 0; i < wire->count; ++i) {
    Link& link = wire->links[i];
    if (link.transport.shared || link.gone.load(std::memory_order_relaxed)) continue;
    if (!is_host_silent(link.transport.socket.load(std::memory_order_relaxed), wire->host_timeout)) continue;
    link.end_in_silence();
    lost += visit(wire, link, kFramesPerPoll);
  }
  return lost;
}

bool has_to_look_at_hosts(LocalWire* wire) {
  if (wire->streams == 0) return false;
  return wire->look_at_hosts.exchange(false, std::memory_order_relaxed) || wire->polls % kPollsPerLookAtHosts == 0;
}

bool has_to_look(LocalWire* wire, int delivered) {
  if (wire->look_at_sockets.exchange(false, std::memory_order_relaxed)) return true;
  ++wire->polls;
  if (wire->streams == 0) return wire->polls % kPollsPerLook == 0;
  return delivered == 0 || wire->polls % kPollsPerLookAtStreams == 0;
}

// Returns how much has happened. Bytes that have moved count, too: a thread that waits for room must see the room.
int flush(LocalWire* wire) {
  int delivered = 0, moved = 0;
  uint64_t time = 0;
  for (int i = 0; i < wire->count; ++i) {
    Link& link = wire->links[i];
    while (link.queued.load(std::memory_order_relaxed) != 0 && delivered < kFramesPerPoll) {
      if (time == 0) time = now();
      Outgoing* finished = nullptr;
      Link::Flushed flushed = link.flush(time, finished);
      if (flushed == Link::Flushed::kSome) ++moved;
      if (flushed != Link::Flushed::kBulk) break;
      finished->sent(finished);
      ++delivered;
    }
  }
  return delivered + moved;
}

}  // namespace

void note_sent(LocalWire* wire, Link::Sent sent) {
  if (sent == Link::Sent::kNoMemory) give_up(wire->user, "no memory for frames that wait to be sent");
  // The waiting thread does not know yet that this link wants room.
  if (sent == Link::Sent::kQueuedFirst) local_wake(reinterpret_cast<Wire*>(wire));
}

Frame control_frame(const LocalWire* wire, ControlKind kind) {
  Frame frame = {};
  frame.kind = static_cast<uint16_t>(kind);
  frame.job = wire->job_word;
  frame.sent = now();
  return frame;
}

int local_poll(Wire* generic) {
  LocalWire* wire = local_of(generic);
  if (!wire->poll_lock.try_take()) return 0;
  int done = visit_inputs(wire);
  if (has_to_look(wire, done)) done += visit_sockets(wire);
  if (has_to_look_at_hosts(wire)) done += look_at_hosts(wire);
  done += flush(wire);
  wire->poll_lock.release();
  return done;
}

constinit const WireKind kLocalWire = {"local",  local_join, number,     count,      peer,       send,
                                       has_room, local_poll, local_wait, local_wake, local_leave};

}  // namespace marline::offload::wire
