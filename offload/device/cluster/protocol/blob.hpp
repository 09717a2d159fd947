// SPDX-License-Identifier: Apache-2.0
//
// Writes and reads the byte strings ("blobs") that the messages of a cluster carry. Values follow each other in whole
// 64-bit words. A blob has one owner at a time. The writer and the reader both have `words`, `time`, `flags` and
// `list`, so one function describes how a record is written and how it is read.
#pragma once

#include "base/report.hpp"
#include "cluster/base/words.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

class BlobWriter : public cluster::WordWriter<BlobWriter> {
 public:
  // Leaves `front` bytes free before the data, for a header that the caller writes.
  explicit BlobWriter(size_t front = 0) : used_(front) { reserve(256); }
  BlobWriter(const BlobWriter&) = delete;
  BlobWriter& operator=(const BlobWriter&) = delete;
  ~BlobWriter() { std::free(data_); }

  void put(uint64_t word) { std::memcpy(extend(sizeof word), &word, sizeof word); }
  void put_bytes(const void* from, size_t bytes) {
    if (bytes == 0) return;
    size_t whole = (bytes + 7) & ~size_t{7};
    char* to = extend(whole);
    std::memset(to + whole - sizeof(uint64_t), 0, sizeof(uint64_t));  // clears the padding, which is sent, too
    std::memcpy(to, from, bytes);
  }
  // Overwrites the word at this offset.
  void set(size_t at, uint64_t word) { std::memcpy(data_ + at, &word, sizeof word); }

  [[nodiscard]] size_t bytes() const { return used_; }
  // Returns the memory, which the caller must free. The writer must not be used afterwards.
  [[nodiscard]] char* take() {
    char* taken = data_;
    data_ = nullptr;
    return taken;
  }

  // Makes room for `more` bytes that the caller will write soon.
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
  size_t used_, room_ = 0;
};

// Reads bytes that another process has written. A read past the end returns 0, and `is_good` is false from then on.
class BlobReader : public cluster::WordReader<BlobReader> {
 public:
  BlobReader(const char* data, size_t bytes) : at_(data), left_(bytes) {}

  uint64_t get() {
    uint64_t word = 0;
    if (const char* from = get_bytes(sizeof word)) std::memcpy(&word, from, sizeof word);
    return word;
  }
  // Whether at least so many words are left. If not, `is_good` is false from then on.
  [[nodiscard]] bool has(uint64_t words) { return is_good_ = is_good_ && words <= left_ / sizeof(uint64_t); }
  // Returns null if fewer bytes are left. Also skips the padding after the bytes, up to a whole word.
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
