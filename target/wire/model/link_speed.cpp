// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "wire/model/link_speed.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::target {

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

// False: there is no number with one of the units.
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
  if (!skip_word(at, "bandwidth=") || !read_number(at, kRates, 1e15, value) || value < 1) return false;
  speed.bandwidth = value / 1e9;
  return true;
}

bool is_pair(const char* text, size_t length, const char* node, const char* other) {
  size_t first = std::strlen(node), second = std::strlen(other);
  return length == first + 1 + second && std::strncmp(text, node, first) == 0 && text[first] == '-' &&
         std::strncmp(text + first + 1, other, second) == 0;
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

uint64_t pass_link(const LinkSpeed& speed, std::atomic<uint64_t>& busy, uint64_t sent, uint64_t bytes) {
  if (speed.bandwidth == 0.0) return sent + speed.latency;
  auto takes = static_cast<uint64_t>(static_cast<double>(bytes) / speed.bandwidth);
  uint64_t before = busy.load(std::memory_order_relaxed), end;
  do {
    end = std::max(before, sent) + takes;
  } while (!busy.compare_exchange_weak(before, end, std::memory_order_relaxed));
  return end + speed.latency;
}

}  // namespace marline::target
