// SPDX-License-Identifier: Apache-2.0
//
// The decoder of frames, and the receiving side of a connection, under bytes that are right, cut, changed and random.
// The seeds are fixed; MARLINE_FUZZ_SECONDS makes the run longer than two seconds.
#include "wire_job.hpp"

#include "wire/base/frame_decoder.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>

namespace marline::offload::wire::test {
namespace {

using Random = std::mt19937_64;
constexpr uint64_t kJob = 0x1234;
constexpr uint64_t kMostPlaced = 1 << 16;  // a longer bulk is dropped, as a user may do

double fuzz_seconds() {
  const char* text = std::getenv("MARLINE_FUZZ_SECONDS");
  return text != nullptr ? std::atof(text) : 1.0;  // for each of the two tests below
}

void append(std::string& stream, const Frame& frame, const std::string& words, const std::string& bulk) {
  stream.append(reinterpret_cast<const char*>(&frame), sizeof frame);
  stream += words;
  stream += bulk;
}

Frame frame_of(uint64_t sequence, uint16_t words, uint64_t bulk) {
  Frame frame = {};
  frame.words = words;
  frame.bulk = bulk;
  frame.job = kJob;
  frame.sequence = sequence;
  return frame;
}

std::string text_of(Random& random, size_t count) {
  std::string text(count, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// `count` good frames.
std::string good_stream(Random& random, int count) {
  std::string stream;
  for (int i = 1; i <= count; ++i) {
    auto words = static_cast<uint16_t>(random() % 4 == 0 ? random() % (kMostWords + 1) : random() % 3);
    uint64_t bulk = random() % 3 == 0 ? random() % 10'000 : 0;
    append(stream, frame_of(static_cast<uint64_t>(i), words, bulk), text_of(random, words * 8u), text_of(random, bulk));
    Frame control = frame_of(0, 0, 0);
    control.kind = static_cast<uint16_t>(ControlKind::kCredits);
    if (random() % 5 == 0) append(stream, control, "", "");
  }
  return stream;
}

void mutate(Random& random, std::string& stream) {
  for (uint64_t i = random() % 4 + 1; i != 0 && !stream.empty(); --i) {
    size_t at = random() % stream.size();
    switch (random() % 5) {
      case 0: stream[at] = static_cast<char>(random()); break;
      case 1: stream[at] = static_cast<char>(stream[at] ^ (1 << random() % 8)); break;
      case 2: stream.erase(at, random() % 100 + 1); break;
      case 3: stream.insert(at, text_of(random, random() % 100)); break;
      default: stream.resize(at);
    }
  }
}

// Feeds a decoder in random pieces, each in memory of its exact size, so that AddressSanitizer finds accesses beyond
// its end. Returns a text of the decoded frames.
std::string decode(Random& random, const std::string& stream, const char*& fault) {
  FrameDecoder decoder;
  EXPECT_TRUE(decoder.open(kJob));
  std::string understood;
  std::unique_ptr<char[]> place;
  size_t from = 0;
  for (;;) {
    using State = FrameDecoder::State;
    if (decoder.state() == State::kFault) break;
    if (decoder.state() == State::kPlace) {
      uint64_t bulk = decoder.frame().bulk;
      place.reset(bulk <= kMostPlaced ? new char[bulk] : nullptr);
      decoder.place(place.get());
    } else if (decoder.state() == State::kWhole) {
      const char* words = reinterpret_cast<const char*>(decoder.words());
      append(understood, decoder.frame(), std::string(words, decoder.frame().words * 8u),
             place != nullptr ? std::string(place.get(), decoder.frame().bulk) : "");
      place.reset();
      decoder.next();
    } else if (from == stream.size()) {
      break;
    } else {
      size_t count = std::min<size_t>(random() % 2 == 0 ? random() % 20 : random() % 5000, stream.size() - from);
      std::unique_ptr<char[]> piece(new char[count]);
      std::memcpy(piece.get(), stream.data() + from, count);
      size_t taken = decoder.take(piece.get(), count);
      EXPECT_LE(taken, count);
      from += taken;
    }
  }
  fault = decoder.fault();
  return understood;
}

TEST(FrameDecoderTest, GoodFramesInAnyPieces) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    std::string stream = good_stream(random, 10);
    const char* fault;
    EXPECT_EQ(decode(random, stream, fault), stream);
    EXPECT_EQ(fault, nullptr);
  }
}

TEST(FrameDecoderTest, EachFaultIsFound) {
  struct {
    void (*spoil)(Frame&);
    const char* said;
  } cases[] = {
      {[](Frame& frame) { ++frame.job; }, "another job"},
      {[](Frame& frame) { frame.words = kMostWords + 1; }, "too long"},
      {[](Frame& frame) { frame.sequence = 3; }, "out of sequence"},
      {[](Frame& frame) { frame.sequence = 1; }, "out of sequence"},
      {[](Frame& frame) { frame.incarnation = 1; }, "incarnation"},
      {[](Frame& frame) { frame.sequence = 0; }, "unknown kind"},
      {[](Frame& frame) { frame.sequence = 0, frame.kind = 1, frame.bulk = 5; }, "with data"},
  };
  for (const auto& spoilt : cases) {
    Random random(1);
    std::string stream;
    append(stream, frame_of(1, 0, 0), "", "");
    Frame frame = frame_of(2, 0, 0);
    spoilt.spoil(frame);
    append(stream, frame, std::string(kMostWords * 8, 'x'), "");
    const char* fault = nullptr;
    EXPECT_EQ(decode(random, stream, fault).size(), sizeof(Frame));
    ASSERT_NE(fault, nullptr) << spoilt.said;
    EXPECT_NE(std::strstr(fault, spoilt.said), nullptr) << fault;
  }
}

template <class Round>
uint64_t fuzz(Round round) {
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(fuzz_seconds());
  uint64_t seed = 0;
  for (; std::chrono::steady_clock::now() < end && !testing::Test::HasFailure(); ++seed) round(seed);
  std::printf("%lu rounds\n", seed);
  return seed;
}

std::string spoilt_stream(Random& random) {
  std::string stream = random() % 8 == 0 ? text_of(random, random() % 3000) : good_stream(random, 5);
  mutate(random, stream);
  return stream;
}

// All that is decoded before the spoilt byte of a stream is what was sent.
TEST(FrameDecoderFuzz, SpoiltBytes) {
  fuzz([](uint64_t seed) {
    Random random(seed);
    std::string stream = good_stream(random, 5), spoilt = stream;
    mutate(random, spoilt);
    size_t same = static_cast<size_t>(std::mismatch(stream.begin(), stream.end(), spoilt.begin(), spoilt.end()).first -
                                      stream.begin());
    const char* fault;
    std::string understood = decode(random, spoilt, fault);
    size_t common = std::min(understood.size(), same);
    ASSERT_EQ(understood.compare(0, common, stream, 0, common), 0) << "seed " << seed;
  });
}

// A link whose other end is the test.
struct OneLink {
  LocalWire* wire = new LocalWire{};
  Link* link = new Link{};
  int other;
  bool lost = false;
  std::vector<char> place = std::vector<char>(kMostPlaced);

  OneLink() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    other = ends[1];
    wire->user = {
        this,
        [](void* data, int, const Frame& frame, const uint64_t*) -> void* {
          return frame.bulk <= kMostPlaced ? static_cast<OneLink*>(data)->place.data() : nullptr;
        },
        [](void* data, int, const Frame&, const uint64_t*) { EXPECT_FALSE(static_cast<OneLink*>(data)->lost); },
        [](void* data, int, const char*) { static_cast<OneLink*>(data)->lost = true; },
        [](const char* line) { FAIL() << line; }};
    wire->count = 1;
    wire->links = link;
    wire->streams = 1;
    wire->job_word = kJob;
    wire->sockets = epoll_create1(0);
    link->peer = 0;
    link->transport.socket = ends[0];
    link->transport.stage = static_cast<char*>(std::malloc(kStage));
    EXPECT_TRUE(link->decoder.open(kJob));
    epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data = {.ptr = link}};
    EXPECT_EQ(epoll_ctl(wire->sockets, EPOLL_CTL_ADD, ends[0], &event), 0);
  }
  ~OneLink() {
    if (other >= 0) close(other);
    if (int mine = link->transport.socket; mine >= 0) close(mine);
    close(wire->sockets);
    std::free(link->transport.stage);
    delete link;
    delete wire;
  }
  void poll() const { local_poll(reinterpret_cast<Wire*>(wire)); }
};

// Whatever bytes come on a connection and wherever it ends: the only effect is that the peer is lost or has left.
TEST(FrameDecoderFuzz, SpoiltConnections) {
  fuzz([](uint64_t seed) {
    Random random(seed);
    std::string stream = spoilt_stream(random);
    OneLink one;
    for (size_t from = 0; from < stream.size() && !one.link->gone;) {
      ssize_t sent = send(one.other, stream.data() + from, std::min<size_t>(stream.size() - from, random() % 9000 + 1),
                          MSG_NOSIGNAL);
      if (sent > 0) from += static_cast<size_t>(sent);
      one.poll();
    }
    close(one.other);
    one.other = -1;
    for (int i = 0; i < 1000 && !one.link->gone; ++i) one.poll();
    ASSERT_TRUE(one.link->gone) << "seed " << seed;
    ASSERT_TRUE(one.lost || one.link->has_left) << "seed " << seed;
  });
}

// Rings after a peer has overwritten their ends.
TEST(FrameDecoderFuzz, SpoiltRings) {
  constexpr uint64_t kBytes = 64 << 10;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Random random(seed);
    auto* memory = static_cast<char*>(std::aligned_alloc(4096, kRingData + kBytes));
    std::string noise = text_of(random, 1000);
    for (size_t at = kRingData; at + noise.size() <= kRingData + kBytes; at += noise.size()) {
      std::memcpy(memory + at, noise.data(), noise.size());
    }
    auto* head = new (memory) RingHead{};
    head->tail = random() >> random() % 64;
    head->head = random() >> random() % 64;
    SharedRing ring;
    ring.open(memory, kBytes);
    const char* bytes;
    uint64_t there = ring.peek(bytes);
    EXPECT_GE(bytes, memory + kRingData);
    EXPECT_LE(bytes + there, memory + kRingData + kBytes);
    EXPECT_EQ(ring.is_broken(), head->tail - head->head > kBytes);
    EXPECT_LE(ring.write(noise.data(), noise.size()), noise.size());
    std::free(memory);
  }
}

}  // namespace
}  // namespace marline::offload::wire::test
