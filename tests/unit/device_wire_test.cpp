// SPDX-License-Identifier: Apache-2.0
//
// The wire `local` between real processes: order, sizes, many frames, storms; by shared memory, by TCP and by both.
#include "wire_job.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>

namespace marline::offload::wire::test {
namespace {

struct Layout {
  const char* name;
  std::vector<const char*> nodes;  // as many as processes
};

class WireTest : public testing::TestWithParam<Layout> {
 protected:
  TestJob job() const { return {.nodes = GetParam().nodes}; }
  int count() const { return static_cast<int>(GetParam().nodes.size()); }
  // With one thread per process, in which ThreadSanitizer can find nothing, but takes ten times as long.
  void run(const Body& body) const {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "one thread";
#endif
    run_with_threads(body);
  }
  void run_with_threads(const Body& body) const { expect_done(run_job(job(), count(), body)); }
};

// A bulk that frees itself when it has been sent.
struct Bulk : Outgoing {
  std::vector<char> bytes;
  int* under_way;
};

void send(End& end, int peer, const Frame& frame, const uint64_t* words = nullptr) {
  MUST(end.kind->send(end.wire, peer, frame, words, nullptr, nullptr));
}

void send_bulk(End& end, int peer, Frame frame, const uint64_t* words, std::vector<char> bytes, int& under_way) {
  auto* bulk = new Bulk;
  bulk->sent = [](Outgoing* outgoing) {
    auto* done = static_cast<Bulk*>(outgoing);
    --*done->under_way;
    std::fill(done->bytes.begin(), done->bytes.end(), 'x');  // it is not read any more
    delete done;
  };
  bulk->bytes = std::move(bytes);
  bulk->under_way = &under_way;
  frame.bulk = bulk->bytes.size();
  ++under_way;
  if (end.kind->send(end.wire, peer, frame, words, bulk->bytes.data(), bulk)) bulk->sent(bulk);
}

// A frame with these; the rest is 0.
Frame frame_of(uint64_t a, uint16_t kind = 0, uint16_t words = 0, uint64_t b = 0) {
  Frame frame = {};
  frame.kind = kind;
  frame.words = words;
  frame.a = a;
  frame.b = b;
  return frame;
}

// Bulks repeat a pattern, starting at a place that depends on `seed`. Its length divides no buffer's length.
constexpr uint64_t kPattern = 65537;

const std::vector<char>& pattern() {
  static const std::vector<char> bytes = [] {
    std::vector<char> made(kPattern);
    for (uint64_t i = 0; i < kPattern; ++i) made[i] = static_cast<char>(i * 0x9e3779b97f4a7c15 >> 56);
    return made;
  }();
  return bytes;
}

char byte_of(uint64_t seed, uint64_t at) { return pattern()[(seed * 31 + at) % kPattern]; }

std::vector<char> bytes_of(uint64_t seed, uint64_t count) {
  std::vector<char> bytes(count);
  for (uint64_t i = 0; i < count;) {
    uint64_t from = (seed * 31 + i) % kPattern, piece = std::min(kPattern - from, count - i);
    std::memcpy(bytes.data() + i, pattern().data() + from, piece);
    i += piece;
  }
  return bytes;
}

TEST_P(WireTest, PeersAreKnown) {
  run([this](End& end) {
    MUST(end.count() == count());
    for (int i = 0; i < count(); ++i) {
      const Peer* peer = end.kind->peer(end.wire, i);
      MUST(std::strcmp(peer->node, GetParam().nodes[static_cast<size_t>(i)]) == 0);
      MUST((peer->pid == getpid()) == (i == end.number()));
    }
    end.leave();
  });
}

TEST_P(WireTest, EveryFrameComesOnceUnchangedAndInOrder) {
  static constexpr uint64_t kFrames = 3000;
  run([](End& end) {
    std::vector<uint64_t> next(static_cast<size_t>(end.count()));
    end.deliver = [&](int peer, const Frame& frame, const uint64_t* words) {
      uint64_t at = next[static_cast<size_t>(peer)]++;
      MUST(frame.a == at && frame.kind == at % 1000 && frame.words == at % 7 && frame.bulk == 0);
      MUST(frame.flags == 0xabcdef && frame.operation == ~at && frame.b == static_cast<uint64_t>(peer) && frame.c == 9);
      for (uint64_t i = 0; i < frame.words; ++i) MUST(words[i] == at + i);
    };
    for (uint64_t at = 0; at < kFrames; ++at) {
      uint64_t words[] = {at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6};
      auto number = static_cast<uint64_t>(end.number());
      Frame frame = frame_of(at, static_cast<uint16_t>(at % 1000), static_cast<uint16_t>(at % 7), number);
      frame.flags = 0xabcdef;
      frame.operation = ~at;
      frame.c = 9;
      for (int peer = 0; peer < end.count(); ++peer) {
        if (peer != end.number()) send(end, peer, frame, words);
      }
    }
    end.run_until([&] {
      uint64_t whole = 0;
      for (uint64_t count : next) whole += count == kFrames ? 1 : 0;
      return whole == static_cast<uint64_t>(end.count()) - 1;
    });
    end.leave();
  });
}

TEST_P(WireTest, BulksOfAllSizesInBothDirections) {
  static const std::vector<uint64_t> kSizes = {0, 1, 7, 8, 4095, 65536, 65537, 262143, 262144, 262145, 3'000'001, 5};
  run([](End& end) {
    size_t received = 0, wanted = kSizes.size() * static_cast<size_t>(end.count() - 1);
    std::vector<std::vector<char>> places(static_cast<size_t>(end.count()));
    int under_way = 0;
    end.place = [&](int peer, const Frame& frame, const uint64_t* words) -> void* {
      MUST(words[0] == frame.bulk);
      places[static_cast<size_t>(peer)].assign(frame.bulk, 'y');
      return frame.a % 5 == 4 ? nullptr : places[static_cast<size_t>(peer)].data();
    };
    end.deliver = [&](int peer, const Frame& frame, const uint64_t* words) {
      ++received;
      MUST(words[0] == kSizes[frame.a] && frame.bulk == kSizes[frame.a] && words[kMostWords - 1] == frame.a);
      if (frame.bulk != 0 && frame.a % 5 != 4) MUST(places[static_cast<size_t>(peer)] == bytes_of(frame.a, frame.bulk));
    };
    std::vector<uint64_t> words(kMostWords);
    for (uint64_t i = 0; i < kSizes.size(); ++i) {
      words[0] = kSizes[i];
      words[kMostWords - 1] = i;
      for (int peer = 0; peer < end.count(); ++peer) {
        Frame frame = frame_of(i, 0, kMostWords);
        if (peer != end.number()) send_bulk(end, peer, frame, words.data(), bytes_of(i, kSizes[i]), under_way);
      }
    }
    end.run_until([&] { return received == wanted && under_way == 0; });
    end.leave();
  });
}

TEST_P(WireTest, AHundredMebibytes) {
#ifdef __SANITIZE_THREAD__  // ThreadSanitizer checks order only, and takes twenty times as long
  static constexpr uint64_t kBytes = 8 << 20;
#else
  static constexpr uint64_t kBytes = 100 << 20;
#endif
  run([](End& end) {
    int last = end.count() - 1, under_way = 0;
    std::vector<char> place;
    bool done = end.number() != last;
    end.place = [&](int, const Frame& frame, const uint64_t*) {
      place.resize(frame.bulk);
      return static_cast<void*>(place.data());
    };
    end.deliver = [&](int, const Frame&, const uint64_t*) {
      done = true;
      for (uint64_t i = 0; i < kBytes; i += 997) MUST(place[i] == byte_of(3, i));
      MUST(place[kBytes - 1] == byte_of(3, kBytes - 1));
    };
    if (end.number() == 0) send_bulk(end, last, {}, nullptr, bytes_of(3, kBytes), under_way);
    end.run_until([&] { return done && under_way == 0; });
    end.leave();
  });
}

TEST_P(WireTest, ManyFramesAreQueued) {
#ifdef __SANITIZE_THREAD__
  static constexpr uint64_t kFrames = 10'000;
#else
  static constexpr uint64_t kFrames = 100'000;
#endif
  run([](End& end) {
    uint64_t received = 0;
    int last = end.count() - 1;
    end.deliver = [&](int, const Frame& frame, const uint64_t* words) {
      MUST(frame.a == received && words[0] == received);
      ++received;
    };
    if (end.number() == 0) {
      for (uint64_t i = 0; i < kFrames; ++i) send(end, last, frame_of(i, 0, 1), &i);
      MUST(!end.kind->has_room(end.wire, last));
      end.run_until([&] { return end.kind->has_room(end.wire, last); });
    }
    if (end.number() == last) {
      usleep(100'000);  // so that they do queue
      end.run_until([&] { return received == kFrames; });
    }
    end.leave();
  });
}

TEST_P(WireTest, WhoWaitsForRoomQueuesFew) {
  static constexpr uint64_t kFrames = 50'000;
  run([](End& end) {
    uint64_t received = 0;
    int last = end.count() - 1;
    end.deliver = [&](int, const Frame&, const uint64_t*) { ++received; };
    for (uint64_t i = 0; end.number() == 0 && i < kFrames; ++i) {
      end.run_until([&] { return end.kind->has_room(end.wire, last); });
      send(end, last, frame_of(i));
    }
    if (end.number() == last) end.run_until([&] { return received == kFrames; });
    end.leave();
  });
}

// Every process sends to random others; each answers, so that many calls come from within calls.
#if defined(__SANITIZE_THREAD__) || defined(__aarch64__)
constexpr bool kIsSlowed = true;  // by ThreadSanitizer, or an emulator mostly
#else
constexpr bool kIsSlowed = false;
#endif

TEST_P(WireTest, AllToAllStorm) {
  static constexpr uint64_t kQuestions = kIsSlowed ? 1500 : 4000;
  run([](End& end) {
    enum : uint16_t { kQuestion, kAnswer, kDone };
    std::mt19937_64 random(static_cast<uint64_t>(end.number()));
    uint64_t asked = 0, answered = 0;
    int under_way = 0, done = 0;
    std::vector<std::vector<char>> places(static_cast<size_t>(end.count()));
    end.place = [&](int peer, const Frame& frame, const uint64_t*) {
      places[static_cast<size_t>(peer)].resize(frame.bulk);
      return static_cast<void*>(places[static_cast<size_t>(peer)].data());
    };
    end.deliver = [&](int peer, const Frame& frame, const uint64_t*) {
      if (frame.kind == kDone) ++done;
      if (frame.kind == kDone) return;
      if (frame.bulk != 0) MUST(places[static_cast<size_t>(peer)] == bytes_of(frame.a, frame.bulk));
      if (frame.kind == kAnswer)
        ++answered;
      else
        send_bulk(end, peer, frame_of(frame.a, kAnswer), nullptr, bytes_of(frame.a, frame.bulk / 2), under_way);
    };
    while (asked < kQuestions) {
      auto peer = static_cast<int>(random() % static_cast<uint64_t>(end.count()));
      if (peer == end.number()) continue;
      uint64_t size = random() % 8 == 0 ? random() % 200'000 : random() % 300;
      send_bulk(end, peer, frame_of(asked, kQuestion), nullptr, bytes_of(asked, size), under_way);
      ++asked;
      if (random() % 4 == 0) end.kind->poll(end.wire);
    }
    end.run_until([&] { return answered == kQuestions && under_way == 0; });
    for (int peer = 0; peer < end.count(); ++peer) {
      if (peer != end.number()) send(end, peer, frame_of(0, kDone));
    }
    end.run_until([&] { return done == end.count() - 1; });
    end.leave();
  });
}

TEST_P(WireTest, SeveralThreadsSendPollAndWake) {
  static constexpr uint64_t kFrames = 5000, kThreads = 3;
  run_with_threads([](End& end) {
    std::atomic<uint64_t> received{0};
    std::atomic<bool> stop{false};
    end.deliver = [&](int, const Frame&, const uint64_t*) { ++received; };
    int peer = (end.number() + 1) % end.count();
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t i = 0; i < kFrames; ++i) {
          send(end, peer, frame_of(i, 0, 0, t));
          if (i % 16 == 0) end.kind->poll(end.wire);
        }
      });
    }
    std::thread waiter([&] {
      while (!stop) {
        end.kind->wait(end.wire, -1);
        end.kind->poll(end.wire);
      }
    });
    for (std::thread& thread : threads) thread.join();
    while (received != kFrames * kThreads) usleep(1000);
    stop = true;
    end.kind->wake(end.wire);
    waiter.join();
    end.leave();
  });
}

// Frames of a burst may wait in the sender's process. A bulk does not, and nothing overtakes.
TEST_P(WireTest, BulksAmongBurstsKeepTheirOrder) {
  static constexpr uint64_t kFrames = 4000;
  run([](End& end) {
    int last = end.count() - 1, under_way = 0;
    uint64_t received = 0;
    std::vector<char> place;
    end.place = [&](int, const Frame& frame, const uint64_t*) {
      place.assign(frame.bulk, 'y');
      return static_cast<void*>(place.data());
    };
    end.deliver = [&](int, const Frame& frame, const uint64_t*) {
      MUST(frame.a == received++);
      if (frame.bulk != 0) MUST(place == bytes_of(frame.a, frame.bulk));
    };
    std::mt19937_64 random(7);
    for (uint64_t i = 0; end.number() == 0 && i < kFrames; ++i) {
      uint64_t size = random() % 40 != 0 ? 0 : random() % 3 == 0 ? 1'000'000 : random() % 100;
      Frame frame = frame_of(i);
      if (random() % 3 == 0) frame.flags = kMayWait;
      send_bulk(end, last, frame, nullptr, bytes_of(i, size), under_way);
      if (random() % 200 == 0) end.kind->poll(end.wire);
    }
    end.run_until([&] { return under_way == 0 && (end.number() != last || received == kFrames); });
    end.leave();
  });
}

// It goes out with the next frame or, if the process sends no other frame, with a poll.
TEST_P(WireTest, AFrameThatMayWaitGoesOut) {
  static constexpr uint64_t kTimes = 50;
  run([](End& end) {
    uint64_t received = 0;
    double place[kTimes] = {};
    end.place = [&](int, const Frame& frame, const uint64_t*) { return static_cast<void*>(&place[frame.a / 2]); };
    end.deliver = [&](int, const Frame& frame, const uint64_t*) {
      MUST(frame.a == received++);
      if (frame.bulk != 0) MUST(place[frame.a / 2] == static_cast<double>(frame.a));
    };
    for (uint64_t i = 0; i < 2 * kTimes; i += 2) {
      auto number = static_cast<double>(i);
      Frame data = frame_of(i);
      data.flags = kMayWait;
      data.bulk = sizeof number;
      int peer = (end.number() + 1) % end.count();
      MUST(end.kind->send(end.wire, peer, data, nullptr, &number, nullptr));
      number = -1;
      if (i % 4 != 0) end.run_until([&] { return received > i; });
      send(end, peer, frame_of(i + 1));
      end.run_until([&] { return received > i + 1; });
    }
    end.leave();
  });
}

// One thread sends a burst and does nothing more; another one sleeps in `wait` when that begins.
TEST_P(WireTest, ABurstThatStopsGoesOut) {
  static constexpr uint64_t kFrames = 60;
  run_with_threads([](End& end) {
    std::atomic<uint64_t> received{0};
    std::atomic<bool> stop{false};
    end.deliver = [&](int, const Frame&, const uint64_t*) { ++received; };
    std::thread waiter([&] {
      while (!stop) {
        end.kind->wait(end.wire, -1);
        while (end.kind->poll(end.wire) != 0) {
        }
      }
    });
    for (uint64_t at = kFrames / 3; at <= kFrames; at += kFrames / 3) {
      usleep(5000);
      for (uint64_t i = 0; i < kFrames / 3; ++i) send(end, (end.number() + 1) % end.count(), frame_of(i));
      while (received < at) usleep(1000);
    }
    stop = true;
    end.kind->wake(end.wire);
    waiter.join();
    end.leave();
  });
}

TEST_P(WireTest, RoundTripsBetweenSleepers) {
  run([](End& end) {
    if (end.number() > 1) return end.leave();
    uint64_t seen = 0;
    end.deliver = [&](int peer, const Frame& frame, const uint64_t*) {
      seen = frame.a;
      if (end.number() == 1) send(end, peer, frame);
    };
    for (uint64_t i = 1; i <= 300; ++i) {
      if (end.number() == 0 && i % 8 == 0) usleep(300);  // longer than a wait looks before it sleeps
      if (end.number() == 0) send(end, 1, frame_of(i));
      end.run_until([&] { return seen >= i; });  // the next frame may come in the same poll
    }
    end.leave();
  });
}

INSTANTIATE_TEST_SUITE_P(All, WireTest,
                         testing::Values(Layout{"SharedMemory2", {"n", "n"}},
                                         Layout{"SharedMemory5", {"n", "n", "n", "n", "n"}},
                                         Layout{"Streams2", {"a", "b"}}, Layout{"Streams4", {"a", "b", "c", "d"}},
                                         Layout{"Mixed4", {"a", "a", "b", "b"}},
                                         Layout{"Mixed5", {"a", "b", "a", "b", "a"}}),
                         [](const auto& layout) { return std::string(layout.param.name); });

}  // namespace
}  // namespace marline::offload::wire::test
