// SPDX-License-Identifier: Apache-2.0
//
// Writes records as 64-bit words, and reads them. The writer and the reader have functions of the same names, so one
// function describes both directions: it passes each member of a record to `words`, `flags`, `time` or `list`.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>

namespace marline::offload::cluster {

// `Derived` has put(uint64_t).
template <class Derived>
class WordWriter {
 public:
  // Each value as a word.
  void words(auto... value) { (put(static_cast<uint64_t>(value)), ...); }
  void time(double value) { put(std::bit_cast<uint64_t>(value)); }
  // All in one word.
  void flags(std::same_as<bool> auto... flag) {
    uint64_t word = 0;
    unsigned bit = 0;
    ((word |= uint64_t{flag} << bit++), ...);
    put(word);
  }
  // `pass` writes an element.
  void list(const auto& items, const auto& pass) {
    put(items.count());
    for (const auto& item : items) pass(item);
  }

 private:
  void put(uint64_t word) { static_cast<Derived*>(this)->put(word); }
};

// `Derived` has get(), and has(count): whether so many words may follow.
template <class Derived>
class WordReader {
 public:
  template <class... T>
  void words(T&... value) {
    ((value = static_cast<T>(get())), ...);
  }
  void time(double& value) { value = std::bit_cast<double>(get()); }
  void flags(std::same_as<bool> auto&... flag) {
    uint64_t word = get();
    ((flag = (word & 1) != 0, word >>= 1), ...);
  }
  // `pass` reads an element, which takes a word or more.
  void list(auto& items, const auto& pass) {
    for (uint64_t left = get(); left > 0 && static_cast<Derived*>(this)->has(left); --left) pass(items.push({}));
  }

 private:
  uint64_t get() { return static_cast<Derived*>(this)->get(); }
};

void pass_range(auto& stream, auto& range) { stream.words(range.buffer, range.offset, range.bytes); }

// Without the source.
void pass_access(auto& stream, auto& access) {
  pass_range(stream, access.range);
  stream.flags(access.may_write, access.is_fetched, access.is_sole, access.is_early, access.is_after_end,
               access.is_end);
  stream.words(access.home);
}

}  // namespace marline::offload::cluster
