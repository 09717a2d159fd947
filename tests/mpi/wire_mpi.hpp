// SPDX-License-Identifier: Apache-2.0
//
// A process on the wire, for wire_mpi.cpp: sends frames with a content that follows from their number, and checks the
// frames that arrive.
#pragma once

#include "wire/base/wire.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace marline::offload;
using namespace marline::offload::wire;

constexpr int kMostRanks = 8;

inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::_Exit(1);
}

// A bulk's content: cheap to make and to check, and different everywhere.
inline unsigned char byte_at(uint64_t seed, uint64_t i) {
  return static_cast<unsigned char>((seed * 31 + i) * 0x9e3779b97f4a7c15 >> 56);
}
// For large bulks, a byte of every 997, and the first and the last.
inline uint64_t stride(uint64_t bytes) { return bytes > 1000000 ? 997 : 1; }

struct Bulk {
  Outgoing outgoing;
  struct Node* node;
  unsigned char bytes[1];
};

struct Node {
  const WireKind* kind;
  Wire* wire;
  WireUser user;
  int number, count;
  uint64_t next[kMostRanks] = {};                // number of the next frame to the peer
  uint64_t got[kMostRanks] = {};                 // frames from the peer
  uint64_t due[kMostRanks] = {};                 // how many will come
  unsigned char* places[kMostRanks] = {};        // memory for the bulk in flight
  std::atomic<uint64_t> sent{0}, to_be_sent{0};  // bulks that have memory of their own
  int answers = 0;                               // answers still to be sent
  bool drops = false;                            // drops every other bulk

  static uint64_t seed(int from, int to, uint64_t i) { return i * 64 + static_cast<uint64_t>(from * 8 + to) + 1; }

  // Two of three may wait, so that up to three go together.
  static uint32_t flags_of(uint64_t i) { return i % 3 != 2 ? kMayWait : kAwaited; }

  void load(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
    expect(library != nullptr, "the wire's library is loaded");
    auto get = reinterpret_cast<const WireKind* (*)()>(dlsym(library, "marline_wire_kind"));
    expect(get != nullptr, "the library has marline_wire_kind");
    kind = get();
  }

  void join(const Job& job) {
    user = {this,
            place,
            deliver,
            [](void*, int, const char* why) { expect(false, why); },
            [](const char* line) {
              std::fprintf(stderr, "marline: fatal: %s\n", line);
              std::_Exit(1);
            },
            true};
    wire = kind->join(job, &user);
    number = kind->number(wire);
    count = kind->count(wire);
    expect(count <= kMostRanks && number >= 0 && number < count, "the wire knows number and count");
    expect(std::strcmp(kind->peer(wire, 0)->machine, kind->peer(wire, count - 1)->machine) == 0, "all run here");
    expect(std::strlen(kind->peer(wire, 0)->node) > 0, "nodes have names");
    expect(kind->peer(wire, number)->pid == getpid(), "the wire knows the process");
  }

  void send(int to, uint64_t bytes) {
    const uint64_t i = next[to]++, of = seed(number, to, i);
    uint64_t words[8];
    Frame frame{};
    frame.kind = static_cast<uint16_t>(i % 7);
    frame.words = static_cast<uint16_t>(i % 5);
    frame.operation = i;
    frame.a = of;
    frame.flags = flags_of(i);
    frame.bulk = bytes;
    for (int w = 0; w < frame.words; ++w) words[w] = of + static_cast<uint64_t>(w);
    auto* bulk = static_cast<Bulk*>(std::malloc(sizeof(Bulk) + bytes));
    bulk->outgoing.sent = free_bulk;
    bulk->node = this;
    for (uint64_t b = 0; b < bytes; b += stride(bytes)) bulk->bytes[b] = byte_at(of, b);
    if (bytes != 0) bulk->bytes[bytes - 1] = byte_at(of, bytes - 1);
    if (kind->send(wire, to, frame, words, bulk->bytes, &bulk->outgoing)) {
      std::free(bulk);
    } else {
      ++to_be_sent;
    }
  }

  static void free_bulk(Outgoing* outgoing) {
    auto* bulk = reinterpret_cast<Bulk*>(outgoing);
    ++bulk->node->sent;
    std::free(bulk);
  }

  void send_to_all(uint64_t bytes) {
    for (int peer = 0; peer < count; ++peer) {
      if (peer != number) send(peer, bytes);
    }
  }

  void expect_from_all(uint64_t frames) {
    for (int peer = 0; peer < count; ++peer) due[peer] = peer != number ? frames : 0;
  }

  bool is_complete() const {
    for (int peer = 0; peer < count; ++peer) {
      if (got[peer] < due[peer]) return false;
    }
    return sent == to_be_sent;
  }

  [[nodiscard]] bool is_dropped(const Frame& frame) const { return drops && frame.operation % 2 == 0; }

  static void* place(void* data, int peer, const Frame& frame, const uint64_t* words) {
    auto* node = static_cast<Node*>(data);
    expect(frame.bulk != 0, "a place is asked for a bulk only");
    expect(frame.operation == node->got[peer], "places are asked for in the frames' order");
    expect(frame.words == 0 || words[0] == frame.a, "the words are there when a place is asked for");
    if (node->is_dropped(frame)) return nullptr;
    return node->places[peer] = static_cast<unsigned char*>(std::malloc(frame.bulk));
  }

  static void deliver(void* data, int peer, const Frame& frame, const uint64_t* words) {
    auto* node = static_cast<Node*>(data);
    const uint64_t i = node->got[peer], of = seed(peer, node->number, i);
    expect(frame.operation == i && frame.a == of && frame.kind == i % 7, "frames come in their order");
    expect(frame.flags == flags_of(i), "frames come with their flags");
    expect(frame.words == i % 5 && frame.sequence == i + 1 && frame.sent != 0, "frames come unchanged");
    for (int w = 0; w < frame.words; ++w) expect(words[w] == of + static_cast<uint64_t>(w), "words come unchanged");
    if (frame.bulk != 0 && !node->is_dropped(frame)) check_bulk(node->places[peer], frame.bulk, of);
    ++node->got[peer];
    expect(node->got[peer] <= node->due[peer] || node->due[peer] == 0, "no frame comes twice");
    if (node->answers > 0 && node->answers-- > 0 && node->next[peer] < 1000) node->send(peer, i * 20);
  }

  static void check_bulk(unsigned char* bytes, uint64_t count, uint64_t of) {
    for (uint64_t b = 0; b < count; b += stride(count)) expect(bytes[b] == byte_at(of, b), "bulks come unchanged");
    expect(bytes[count - 1] == byte_at(of, count - 1), "bulks come to their end");
    std::free(bytes);
  }
};
