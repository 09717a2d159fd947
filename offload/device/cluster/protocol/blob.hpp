// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are written one behind the other and read in the same way, in whole words: what goes with a cluster's
// messages. One owner.
#pragma once

#include "base/report.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

class BlobWriter {
 public:
  // Room for `front` bytes of the caller's lies in front of what is written.
  explicit BlobWriter(size_t front = 0) : front_(front), used_(front) { reserve(256); }
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;
  ~BlobWriter() { std::free(data_); }

  void put(uint64_t word) { std::memcpy(extend(sizeof word), &word, sizeof word); }
  void put_bytes(const void* from, size_t bytes) {
    if (bytes == 0) return;
    size_t whole = (bytes + 7) & ~size_t{7};
    char* to = extend(whole);
    std::memset(to + whole - sizeof(uint64_t), 0, sizeof(uint64_t));  // what is behind the bytes is sent, too
    std::memcpy(to, from, bytes);
  }
  void set(size_t at, uint64_t word) { std::memcpy(data_ + at, &word, sizeof word); }

  [[nodiscard]] size_t bytes() const { return used_; }
  // The caller's to free.
  [[nodiscard]] char* take() {
    char* taken = data_;
    data_ = nullptr;
    return taken;
  }

  // Room for that many bytes more, which come soon.
  void reserve(size_t more) {
    if (used_ + more <= room_) return;
    room_ = used_ + more > 2 * room_ ? used_ + more : 2 * room_;
    data_ = static_cast<char*>(std::realloc(data_, room_));
    if (data_ == nullptr) fatal("no memory for %zu bytes to another node of the cluster", room_);
  }

 private:
  char* extend(size_t bytes) {
    reserve(bytes);
    char* at = data_ + used_;
    used_ += bytes;
    return at;
  }

  char* data_ = nullptr;
  size_t front_, used_, room_ = 0;
};

// Of bytes that another process has written: what is not there reads as 0, and `is_good` says so.
class BlobReader {
 public:
  BlobReader(const char* data, size_t bytes) : at_(data), left_(bytes) {}

  uint64_t get() {
    uint64_t word = 0;
    if (const char* from = get_bytes(sizeof word)) std::memcpy(&word, from, sizeof word);
    return word;
  }
  // Null: there are not that many.
  const char* get_bytes(size_t bytes) {
    size_t whole = (bytes + 7) & ~size_t{7};
    is_good_ = is_good_ && whole >= bytes && whole <= left_;
    if (!is_good_) return nullptr;
    const char* from = at_;
    at_ += whole;
    left_ -= whole;
    return from;
  }

  [[nodiscard]] bool is_good() const { return is_good_; }
  [[nodiscard]] size_t left() const { return left_; }

 private:
  const char* at_;
  size_t left_;
  bool is_good_ = true;
};

}  // namespace marline::offload::device
