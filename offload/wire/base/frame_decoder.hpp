// SPDX-License-Identifier: Apache-2.0
//
// Decodes frames from a stream of bytes that may end anywhere. It trusts no byte: a frame of another job, a frame that
// is too long, out of sequence or of another incarnation puts the decoder in kFault for good. The decoder calls nothing
// and allocates once; its caller acts on its state. One thread at a time.
#pragma once

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

// Control frames, which the wire itself sends, have sequence 0, no words and no bulk.
enum class ControlKind : uint16_t { kCredits = 1, kLeave = 2 };

class FrameDecoder {
 public:
  enum class State : uint8_t {
    kFrame,
    kWords,
    kBulk,   // takes bytes of the bulk
    kPlace,  // the caller must say where the bulk goes: `place`
    kWhole,  // the frame is complete; the caller must call `next`
    kFault   // permanent: the decoder takes no more bytes
  };

  FrameDecoder() = default;
  FrameDecoder(const FrameDecoder&) = delete;
  FrameDecoder& operator=(const FrameDecoder&) = delete;
  ~FrameDecoder();

  // Must be called first. Returns false if there is no memory.
  [[nodiscard]] bool open(uint64_t job);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] const Frame& frame() const { return frame_; }     // valid from kPlace or kWhole until `next`
  [[nodiscard]] const uint64_t* words() const { return words_; }  // valid as long as frame()
  [[nodiscard]] bool is_control() const { return frame_.sequence == 0; }
  [[nodiscard]] const char* fault() const { return fault_; }  // in kFault: what the peer has done

  // Takes bytes until the caller must act (kPlace, kWhole, kFault). Returns how many bytes it took.
  size_t take(const char* bytes, size_t count);
  // Sets where the bulk goes; null: the bulk is dropped.
  void place(void* to);
  // The caller has handled the frame; the decoder expects the next one.
  void next();

  // For readers that can read bulk directly to its destination: in kBulk with a destination, how many bytes are wanted,
  // and where they go. wants_bulk() is 0 in all other cases.
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
  uint32_t got_ = 0;  // received bytes of the frame, or of the words
  uint64_t job_ = 0;
  uint64_t last_sequence_ = 0;
  uint64_t bulk_left_ = 0;
  char* to_ = nullptr;
  uint64_t* words_ = nullptr;  // has room for kMostWords words
  const char* fault_ = nullptr;
  Frame frame_;
};

}  // namespace marline::offload::wire
