// SPDX-License-Identifier: Apache-2.0
//
// Parses MARLINE_LINK, and computes when a frame arrives.
#include "wire/model/link_speed.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::offload::wire {

namespace {

struct Unit {
  const char* name;
  double factor;
};
constexpr Unit kTimes[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr Unit kRates[] = {{"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"", 1.0}};

bool skip_word(const char*& at, const char* word) {
  size_t length = std::strlen(word);
  if (std::strncmp(at, word, length) != 0) return false;
  at += length;
  return true;
}

// Returns false if there is no number with one of the units, or it is larger than `most`.
template <int kCount>
bool read_number(const char*& at, const Unit (&units)[kCount], double most, double& value) {
  if (*at < '0' || *at > '9') return false;
  char* end;
  value = std::strtod(at, &end);
  at = end;
  for (const Unit& unit : units) {
    if (!skip_word(at, unit.name)) continue;
    value *= unit.factor;
    return value <= most;
  }
  return false;
}

bool read_item(const char*& at, LinkSpeed& speed) {
  double value;
  if (skip_word(at, "latency=")) {
    if (!read_number(at, kTimes, 1e12, value)) return false;
    speed.latency = static_cast<uint64_t>(value);
    return true;
  }
  bool is_card = skip_word(at, "card=");
  if (!is_card && !skip_word(at, "bandwidth=")) return false;
  if (!read_number(at, kRates, 1e15, value) || value < 1) return false;
  (is_card ? speed.card : speed.bandwidth) = value / 1e9;
  return true;
}

bool is_pair(const char* text, size_t length, const char* node, const char* other) {
  size_t first = std::strlen(node), second = std::strlen(other);
  return length == first + 1 + second && std::strncmp(text, node, first) == 0 && text[first] == '-' &&
         std::strncmp(text + first + 1, other, second) == 0;
}

// A link or a network card that a frame passes.
struct Lane {
  double bandwidth;
  std::atomic<uint64_t>* busy;
};

// Occupies the lane for the time `takes`, from `begin` on or from when the lane is free. Returns the end.
uint64_t pass_lane(std::atomic<uint64_t>& busy, uint64_t begin, uint64_t takes) {
  uint64_t before = busy.load(std::memory_order_relaxed), end;
  do {
    end = std::max(before, begin) + takes;
  } while (!busy.compare_exchange_weak(before, end, std::memory_order_relaxed));
  return end;
}

}  // namespace

const char* read_link_speed(const char* text, const char* node, const char* other, LinkSpeed& speed) {
  const char* at = text;
  for (;;) {
    size_t length = std::strcspn(at, ":;");
    bool names = at[length] == ':';
    bool meant = !names || is_pair(at, length, node, other) || is_pair(at, length, other, node);
    if (names && std::memchr(at, '-', length) == nullptr) return at;
    if (names) at += length + 1;
    LinkSpeed aside;
    do {
      const char* item = at;
      if (!read_item(at, meant ? speed : aside)) return item;
    } while (skip_word(at, ","));
    if (*at == '\0') return nullptr;
    if (!skip_word(at, ";")) return at;
  }
}

uint64_t pass_link(const LinkSpeed& speed, const LinkWords& busy, uint64_t sent, uint64_t bytes, bool passes) {
  uint64_t begin = sent, arrived = sent;
  const Lane lanes[] = {{speed.card, busy.out}, {speed.bandwidth, busy.link}, {speed.card, busy.in}};
  for (const Lane& lane : lanes) {
    if (lane.bandwidth == 0.0) continue;
    auto takes = static_cast<uint64_t>(static_cast<double>(bytes) / lane.bandwidth);
    uint64_t end = pass_lane(*lane.busy, begin, takes);
    if (passes) end = begin + takes;
    begin = end - takes;
    arrived = std::max(arrived, end);
  }
  return arrived + speed.latency;
}

}  // namespace marline::offload::wire
