// SPDX-License-Identifier: Apache-2.0
//
// The model of links, on a wire that delivers what the test gives it, by a clock that the test sets; and, for order
// only, on the wire `local`.
#include "wire_job.hpp"

#include "wire/model/link_model.hpp"
#include "wire/model/link_speed.hpp"

#include <cstring>
#include <random>

namespace marline::offload::wire::test {
namespace {

uint64_t g_now = 0;

// A wire of four processes on two nodes, of which this is the last, on node b.
struct Arrival {
  int peer;
  Frame frame;
  std::vector<char> bulk;
};
struct FakeWire {
  WireUser user;
  std::deque<Arrival> arrivals;
  int waited = 0;
  Peer peers[4];
} g_fake;

Wire* fake() { return reinterpret_cast<Wire*>(&g_fake); }

int fake_poll(Wire*) {
  int count = 0;
  for (; !g_fake.arrivals.empty(); g_fake.arrivals.pop_front(), ++count) {
    Arrival& arrival = g_fake.arrivals.front();
    arrival.frame.bulk = arrival.bulk.size();
    if (!arrival.bulk.empty()) {
      void* to = g_fake.user.place(g_fake.user.data, arrival.peer, arrival.frame, nullptr);
      if (to != nullptr) std::memcpy(to, arrival.bulk.data(), arrival.bulk.size());
    }
    g_fake.user.deliver(g_fake.user.data, arrival.peer, arrival.frame, nullptr);
  }
  return count;
}

const WireKind kFake = {"fake",
                        [](const Job&, const WireUser* user) {
                          g_fake.user = *user;
                          const char* nodes[] = {"a", "a", "b", "b"};
                          for (int i = 0; i < 4; ++i) {
                            std::strcpy(g_fake.peers[i].node, nodes[i]);
                            std::strcpy(g_fake.peers[i].machine, "m");
                          }
                          return fake();
                        },
                        [](const Wire*) { return 3; },
                        [](const Wire*) { return 4; },
                        [](const Wire*, int number) -> const Peer* { return &g_fake.peers[number]; },
                        [](Wire*, int, const Frame&, const uint64_t*, const void*, Outgoing*) { return true; },
                        [](Wire*, int) { return true; },
                        fake_poll,
                        [](Wire*, int milliseconds) { g_fake.waited = milliseconds; },
                        [](Wire*) {},
                        [](Wire*, bool) {}};

class LinkModelTest : public testing::Test {
 protected:
  void open(const char* link) {
    setenv("MARLINE_LINK", link, 1);
    g_now = 0;
    g_link_clock = [] { return g_now; };
    end_.kind = with_link_model(&kFake);
    ASSERT_NE(end_.kind, &kFake);
    end_.deliver = [this](int peer, const Frame& frame, const uint64_t*) { came_.push_back({g_now, peer, frame.a}); };
    end_.join({});
  }
  void TearDown() override {
    g_now += uint64_t{1} << 60;
    if (end_.wire != nullptr) end_.leave();
    g_link_clock = clock_;
    unsetenv("MARLINE_LINK");
  }
  static void arrive(int peer, uint64_t name, uint64_t sent, uint64_t bulk = 0) {
    Frame frame = {};
    frame.a = name;
    frame.sent = sent;
    g_fake.arrivals.push_back({peer, frame, std::vector<char>(bulk, 'b')});
  }
  // Lets time pass, in steps of 10 ns.
  void run_to(uint64_t end) {
    for (; g_now <= end; g_now += 10) end_.kind->poll(end_.wire);
  }

  struct Came {
    uint64_t at;
    int peer;
    uint64_t name;
    bool operator==(const Came&) const = default;
  };
  End end_;
  std::vector<Came> came_;
  uint64_t (*clock_)() = g_link_clock;
};

TEST_F(LinkModelTest, WithoutTheOptionThereIsNoModel) { EXPECT_EQ(with_link_model(&kFake), &kFake); }

TEST_F(LinkModelTest, ALatency) {
  open("latency=1us");
  arrive(0, 1, 0);
  arrive(0, 2, 500);
  arrive(2, 3, 0);  // of the same node
  run_to(5000);
  EXPECT_EQ(came_, (std::vector<Came>{{0, 2, 3}, {1000, 0, 1}, {1500, 0, 2}}));
}

// 80 bytes are the frame. Peers 0 and 1 share the link.
TEST_F(LinkModelTest, ABandwidthIsShared) {
  open("latency=100ns,bandwidth=1G");
  arrive(0, 1, 0, 920);
  arrive(1, 2, 0, 920);
  arrive(0, 3, 5000, 920);
  run_to(10000);
  EXPECT_EQ(came_, (std::vector<Came>{{1100, 0, 1}, {2100, 1, 2}, {6100, 0, 3}}));
}

TEST_F(LinkModelTest, TheOrderOfAPairStays) {
  open("latency=1us,bandwidth=10M");
  std::mt19937 random(1);
  uint64_t sent = 0, bytes = 0;
  for (uint64_t i = 0; i < 100; ++i) {
    uint64_t bulk = 1 + random() % 50;
    arrive(static_cast<int>(random() % 2), i, sent, bulk);
    bytes += 80 + bulk;
    sent += random() % 100;
  }
  run_to(2'000'000);
  ASSERT_EQ(came_.size(), 100u);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(came_[i].name, i);
  // The link was never idle.
  EXPECT_NEAR(static_cast<double>(came_.back().at), 1000 + static_cast<double>(bytes) * 100, 11);
}

TEST_F(LinkModelTest, AFrameWithoutABulkWaitsForItsOwnPairAlone) {
  open("bandwidth=1G");
  arrive(0, 1, 0, 920);
  arrive(1, 2, 100);
  arrive(0, 3, 100);
  arrive(1, 4, 200, 920);
  run_to(5000);
  EXPECT_EQ(came_, (std::vector<Came>{{180, 1, 2}, {1000, 0, 1}, {1000, 0, 3}, {2160, 1, 4}}))
      << "and takes its 80 bytes' time from the link";
}

TEST_F(LinkModelTest, ABulkComesWithItsFrame) {
  open("latency=1us");
  std::vector<char> place(1000, '.');
  uint64_t placed = 0;
  end_.place = [&](int, const Frame&, const uint64_t*) -> void* {
    placed = g_now;
    return place.data();
  };
  arrive(0, 1, 0, 1000);
  run_to(900);
  EXPECT_EQ(place[0], '.');
  run_to(2000);
  EXPECT_EQ(placed, 1000u);
  EXPECT_EQ(place[999], 'b');
}

TEST_F(LinkModelTest, ALossComesBehindTheFrames) {
  open("latency=1us");
  uint64_t lost = 0;
  end_.lost = [&](int peer, const char* why) {
    EXPECT_EQ(peer, 1);
    EXPECT_STREQ(why, "has ended");
    lost = g_now;
  };
  arrive(1, 1, 100);
  end_.kind->poll(end_.wire);
  g_fake.user.lost(g_fake.user.data, 1, std::string("has ended").c_str());
  run_to(3000);
  EXPECT_EQ(came_, (std::vector<Came>{{1100, 1, 1}}));
  EXPECT_EQ(lost, 1100u);
}

TEST_F(LinkModelTest, WaitsUntilAFrameIsDue) {
  open("latency=20ms");
  end_.kind->wait(end_.wire, -1);
  EXPECT_EQ(g_fake.waited, -1);
  arrive(0, 1, 0);
  end_.kind->poll(end_.wire);
  end_.kind->wait(end_.wire, -1);
  EXPECT_EQ(g_fake.waited, 20);
  end_.kind->wait(end_.wire, 5);
  EXPECT_EQ(g_fake.waited, 5);
  g_now = 19'900'000;
  g_fake.waited = -2;
  end_.kind->wait(end_.wire, -1);
  EXPECT_EQ(g_fake.waited, -2);  // returns at once, as the frame is about to come
}

// A node sends to two others, then another node sends to the second of these: the arrival of each frame is reported.
TEST_F(LinkModelTest, ACardIsSharedByTheLinksOfItsNode) {
  std::atomic<uint64_t> links[3] = {}, out[2] = {}, in[2] = {};
  LinkSpeed speed;
  ASSERT_EQ(read_link_speed("latency=10ns,bandwidth=2G,card=1G", "a", "b", speed), nullptr);
  EXPECT_EQ(pass_link(speed, {&links[0], &out[0], &in[0]}, 0, 1000, false), 1010u);
  EXPECT_EQ(pass_link(speed, {&links[1], &out[0], &in[1]}, 0, 1000, false), 2010u) << "the sender's card is busy";
  EXPECT_EQ(pass_link(speed, {&links[2], &out[1], &in[1]}, 0, 1000, false), 3010u) << "the receiver's card is busy";
  EXPECT_EQ(pass_link(speed, {&links[0], &out[1], &in[0]}, 0, 100, true), 110u);
}

TEST_F(LinkModelTest, PairsOfNodes) {
  LinkSpeed speed;
  const char* text = "latency=1us,bandwidth=2k;0-1:latency=3ms;1-2:latency=5s,bandwidth=7";
  EXPECT_EQ(read_link_speed(text, "1", "0", speed), nullptr);
  EXPECT_EQ(speed.latency, 3'000'000u);
  EXPECT_DOUBLE_EQ(speed.bandwidth, 2e-6);
  EXPECT_EQ(read_link_speed(text, "0", "2", speed = {}), nullptr);
  EXPECT_EQ(speed.latency, 1'000u);
  EXPECT_EQ(read_link_speed(text, "2", "1", speed = {}), nullptr);
  EXPECT_EQ(speed.latency, 5'000'000'000u);
}

TEST_F(LinkModelTest, ListsThatAreNone) {
  LinkSpeed speed;
  const char* texts[] = {"|",
                         "latency=|5",
                         "latency=|5x",
                         "latency=1us,|",
                         "latency=1us;|",
                         "|0:latency=1us",
                         "bandwidth=1G,|speed=4",
                         "card=|0",
                         "card=1|us",
                         "0-1:|x",
                         "bandwidth=|0",
                         "latency=1us|x"};
  for (std::string text : texts) {
    size_t at = text.find('|');
    text.erase(at, 1);
    const char* wrong = read_link_speed(text.c_str(), "a", "b", speed);
    ASSERT_NE(wrong, nullptr) << text;
    // The message about a wrong item starts at that item.
    EXPECT_LE(static_cast<size_t>(wrong - text.c_str()), at) << text;
  }
}

// Nodes, some with two processes, that share the words of their links. The frames of all processes arrive in order and
// not too early.
TEST(LinkModelOnLocal, ModelledNodes) {
  setenv("MARLINE_LINK", "latency=2ms,bandwidth=100M", 1);
  TestJob job;
  job.nodes = {"a", "a", "b", "b", "c"};
  std::vector<pid_t> children;
  for (int number = 0; number < 5; ++number) {
    children.push_back(start([&] {
      End end;
      end.kind = with_link_model(&kLocalWire);
      end.join(job.of(number, 5));
      std::vector<uint64_t> next(5);
      end.deliver = [&](int peer, const Frame& frame, const uint64_t*) {
        MUST(frame.a == next[static_cast<size_t>(peer)]++);
        bool far = std::strcmp(job.nodes[static_cast<size_t>(peer)], job.nodes[static_cast<size_t>(number)]) != 0;
        MUST(!far || g_link_clock() >= frame.sent + 2'000'000);
      };
      for (uint64_t i = 0; i < 200; ++i) {
        Frame frame = {};
        frame.a = i;
        for (int peer = 0; peer < 5; ++peer) {
          if (peer != number) MUST(end.kind->send(end.wire, peer, frame, nullptr, nullptr, nullptr));
        }
      }
      end.run_until([&] {
        int whole = 0;
        for (uint64_t count : next) whole += count == 200 ? 1 : 0;
        return whole == 4;
      });
      end.leave();
    }));
  }
  for (pid_t child : children) EXPECT_EQ(status_of(child), 0);
  unsetenv("MARLINE_LINK");
}

}  // namespace
}  // namespace marline::offload::wire::test
