// SPDX-License-Identifier: Apache-2.0
//
// Receives the frames of one link. Only the thread that holds the wire's poll lock calls this.
#include "wire/local/link.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace marline::offload::wire {

namespace {

constexpr uint64_t kRingPiece = 64 << 10;  // bytes read at once, so that the writer copies while the reader goes on
// A bulk with at least so many bytes missing is read directly to its destination, without the stage.
constexpr uint64_t kDirectAtLeast = 4 << 10;

}  // namespace

bool Link::has_input() const {
  if (gone.load(std::memory_order_relaxed)) return false;
  if (ended.load(std::memory_order_relaxed)) return true;  // the end of the link is to be handled
  return transport.shared ? !transport.in.is_empty() : transport.has_stage.load(std::memory_order_relaxed);
}

void Link::receive(Visit& visit) {
  if (gone.load(std::memory_order_relaxed)) return;
  if (transport.shared) {
    receive_from_ring(visit);
  } else {
    receive_from_socket(visit);
    transport.has_stage.store(transport.stage_from != transport.stage_to, std::memory_order_relaxed);
  }
}

void Link::end(const char* reason) {
  if (why == nullptr) why = reason;
  ended.store(true, std::memory_order_relaxed);
}

void Link::receive_from_ring(Visit& visit) {
  if (transport.in.is_broken()) return end("has written over the memory that it shares");
  while (visit.frames_left > 0 && visit.bytes_left > 0 && decoder.state() != FrameDecoder::State::kFault) {
    const char* bytes;
    uint64_t there = std::min(transport.in.peek(bytes), kRingPiece);
    if (there == 0) return;
    size_t taken = decode(bytes, there, visit);
    visit.bytes_left -= static_cast<int64_t>(taken);
    if (transport.in.consume(taken)) transport.bell->ring(transport.bell_file);
  }
}

void Link::receive_from_socket(Visit& visit) {
  Transport& t = transport;
  bool more = true;
  while (visit.frames_left > 0 && visit.bytes_left > 0 && decoder.state() != FrameDecoder::State::kFault) {
    if (t.stage_from == t.stage_to) {
      if (!more) return;
      more = decoder.wants_bulk() >= kDirectAtLeast ? fill_bulk(visit) : fill_stage(visit);
      if (decoder.state() == FrameDecoder::State::kWhole) finish_frame(visit);
    }
    t.stage_from += static_cast<uint32_t>(decode(t.stage + t.stage_from, t.stage_to - t.stage_from, visit));
  }
}

bool is_silence(int error) { return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH; }

void Link::note_read(ssize_t bytes) {
  if (bytes == 0 || (bytes < 0 && errno == ECONNRESET)) {  // reset: the peer has ended without reading all data
    return end(is_silent.load(std::memory_order_relaxed) ? transport.silence : nullptr);
  }
  if (bytes < 0 && is_silence(errno)) return end(transport.silence);
  if (bytes < 0 && errno != EAGAIN && errno != EINTR) end("cannot be reached any more");
}

// fill_stage and fill_bulk return false if the socket has no more data for now.
bool Link::fill_stage(Visit& visit) {
  if (ended.load(std::memory_order_relaxed)) return false;
  ssize_t got = recv(transport.socket, transport.stage, kStage, MSG_DONTWAIT);
  note_read(got);
  transport.stage_from = 0;
  transport.stage_to = got > 0 ? static_cast<uint32_t>(got) : 0;
  visit.bytes_left -= got > 0 ? got : 0;
  return got == static_cast<ssize_t>(kStage);
}

bool Link::fill_bulk(Visit& visit) {
  if (ended.load(std::memory_order_relaxed)) return false;
  uint64_t want = std::min<uint64_t>(decoder.wants_bulk(), 1 << 20);
  ssize_t got = recv(transport.socket, decoder.bulk_at(), want, MSG_DONTWAIT);
  note_read(got);
  if (got > 0) decoder.took_bulk(static_cast<uint64_t>(got));
  visit.bytes_left -= got > 0 ? got : 0;
  return got == static_cast<ssize_t>(want);
}

size_t Link::decode(const char* bytes, size_t count, Visit& visit) {
  size_t taken = 0;
  while (visit.frames_left > 0) {
    switch (decoder.state()) {
      case FrameDecoder::State::kPlace:
        decoder.place(visit.user->place(visit.user->data, peer, decoder.frame(), decoder.words()));
        break;
      case FrameDecoder::State::kWhole: finish_frame(visit); break;
      case FrameDecoder::State::kFault: end(decoder.fault()); return taken;
      default:
        if (taken == count) return taken;
        taken += decoder.take(bytes + taken, count - taken);
    }
  }
  return taken;
}

void Link::finish_frame(Visit& visit) {
  const Frame& frame = decoder.frame();
  if (frame.credits != 0) taken_by_peer.fetch_add(frame.credits, std::memory_order_relaxed);
  --visit.frames_left;
  if (!decoder.is_control()) {
    unreported.fetch_add(1, std::memory_order_relaxed);
    visit.user->deliver(visit.user->data, peer, frame, decoder.words());
  } else if (static_cast<ControlKind>(frame.kind) == ControlKind::kLeave) {
    has_left = true;
  }
  decoder.next();
}

}  // namespace marline::offload::wire
