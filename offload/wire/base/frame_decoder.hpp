// SPDX-License-Identifier: Apache-2.0
//
// Frames from a stream of bytes that may end anywhere. It trusts no byte: a frame of another job, one that is too long,
// out of sequence or of another incarnation stops it for good. It calls nothing and allocates once; whoever feeds it
// acts on its state. One thread at a time.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// Frames of the wire itself have sequence 0, no words and no bulk.
enum class ControlKind : uint16_t { kCredits = 1, kLeave = 2 };

class FrameDecoder {
 public:
  enum class State : uint8_t {
    kFrame,
    kWords,
    kBulk,   // takes bytes
    kPlace,  // wants to know where the bulk goes: `place`
    kWhole,  // the frame is complete: `next`
    kFault   // will take nothing any more
  };

  FrameDecoder() = default;
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  ~FrameDecoder();

  // Before anything else. False: no memory.
  [[nodiscard]] bool open(uint64_t job);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Frame& frame() const { return frame_; }     // from kPlace or kWhole on, until `next`
  [[nodiscard]] const uint64_t* words() const { return words_; }  // as above
  [[nodiscard]] bool is_control() const { return frame_.sequence == 0; }
  [[nodiscard]] const char* fault() const { return fault_; }  // in kFault: what the peer has done

  // Takes bytes until the state wants an answer; returns how many.
  size_t take(const char* bytes, size_t count);
  // Where the bulk goes; null: nowhere.
  void place(void* to);
  // The frame has been dealt with.
  void next();

  // For readers that can put bulk where it belongs themselves: in kBulk with a place, how much is wanted and where;
  // else 0 and null.
  [[nodiscard]] uint64_t wants_bulk() const { return state_ == State::kBulk && to_ != nullptr ? bulk_left_ : 0; }
  [[nodiscard]] char* bulk_at() const { return to_; }
  void took_bulk(uint64_t bytes);

 private:
  size_t gather(char* to, size_t whole, const char* bytes, size_t count);
  void judge();
  void enter_words();
  void enter_bulk();
  [[nodiscard]] const char* find_fault() const;

  State state_ = State::kFrame;
  uint32_t got_ = 0;  // bytes of the frame, or of the words
  uint64_t job_ = 0;
  uint64_t last_sequence_ = 0;
  uint64_t bulk_left_ = 0;
  char* to_ = nullptr;
  uint64_t* words_ = nullptr;  // kMostWords
  const char* fault_ = nullptr;
  Frame frame_;
};

}  // namespace marline::offload::wire
