// SPDX-License-Identifier: Apache-2.0
//
// Decodes the frames of a byte stream and checks each of them.
#include "wire/base/frame_decoder.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

FrameDecoder::~FrameDecoder() { std::free(words_); }

bool FrameDecoder::open(uint64_t job) {
  job_ = job;
  words_ = static_cast<uint64_t*>(std::malloc(kMostWords * sizeof(uint64_t)));
  return words_ != nullptr;
}

size_t FrameDecoder::take(const char* bytes, size_t count) {
  size_t taken = 0;
  if (state_ == State::kFrame) {
    taken = gather(reinterpret_cast<char*>(&frame_), sizeof frame_, bytes, count);
    if (got_ == sizeof frame_) judge();
  }
  if (state_ == State::kWords) {
    size_t whole = frame_.words * sizeof(uint64_t);
    taken += gather(reinterpret_cast<char*>(words_), whole, bytes + taken, count - taken);
    if (got_ == whole) enter_bulk();
  }
  if (state_ == State::kBulk) {
    auto piece = static_cast<size_t>(std::min<uint64_t>(bulk_left_, count - taken));
    if (to_ != nullptr && piece != 0) std::memcpy(to_, bytes + taken, piece);
    taken += piece;
    took_bulk(piece);
  }
  return taken;
}

size_t FrameDecoder::gather(char* to, size_t whole, const char* bytes, size_t count) {
  size_t piece = std::min(whole - got_, count);
  std::memcpy(to + got_, bytes, piece);
  got_ += static_cast<uint32_t>(piece);
  return piece;
}

const char* FrameDecoder::find_fault() const {
  if (frame_.job != job_) return "has sent a frame of another job";
  if (frame_.words > kMostWords) return "has sent a frame that is too long";
  if (frame_.incarnation != 0) return "has sent a frame of another incarnation";
  if (!is_control()) return frame_.sequence != last_sequence_ + 1 ? "has sent frames out of sequence" : nullptr;
  if (frame_.words != 0 || frame_.bulk != 0) return "has sent a wire's frame with data";
  auto kind = static_cast<ControlKind>(frame_.kind);
  bool known = kind == ControlKind::kCredits || kind == ControlKind::kLeave;
  return known ? nullptr : "has sent a wire's frame of an unknown kind";
}

void FrameDecoder::judge() {
  fault_ = find_fault();
  if (fault_ != nullptr) {
    state_ = State::kFault;
    return;
  }
  if (!is_control()) last_sequence_ = frame_.sequence;
  enter_words();
}

void FrameDecoder::enter_words() {
  got_ = 0;
  state_ = State::kWords;
  if (frame_.words == 0) enter_bulk();
}

void FrameDecoder::enter_bulk() { state_ = frame_.bulk != 0 ? State::kPlace : State::kWhole; }

void FrameDecoder::place(void* to) {
  to_ = static_cast<char*>(to);
  bulk_left_ = frame_.bulk;
  state_ = State::kBulk;
}

void FrameDecoder::took_bulk(uint64_t bytes) {
  if (to_ != nullptr) to_ += bytes;
  bulk_left_ -= bytes;
  if (bulk_left_ == 0) state_ = State::kWhole;
}

void FrameDecoder::next() {
  got_ = 0;
  to_ = nullptr;
  state_ = State::kFrame;
}

}  // namespace marline::offload::wire
