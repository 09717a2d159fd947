// SPDX-License-Identifier: Apache-2.0
//
// A network that is cut, as by the crash of a machine: no end of a connection is reported. The processes are in a
// network of their own; its only interface, the loopback, is taken down.
#include "wire_job.hpp"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cstring>

namespace marline::offload::wire::test {
namespace {

constexpr const char* kTimeout = "2s";

// Takes the loopback of this process's own network up or down. False: that failed.
bool set_loopback(bool up) {
  int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request = {};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = static_cast<short>(up ? IFF_UP | IFF_RUNNING : 0);
  bool done = ioctl(socket, SIOCSIFFLAGS, &request) == 0;
  close(socket);
  return done;
}

constexpr int kNotPermitted = 88;

// Runs the test's body in a process with a network of its own.
int in_own_network(const std::function<void()>& body) {
  return status_of(start([&] {
    bool is_alone = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    if (!is_alone || !set_loopback(true)) _exit(kNotPermitted);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }));
}

TestJob apart() {
  TestJob job;
  job.nodes = {"a", "b"};
  setenv("MARLINE_HOST_TIMEOUT", kTimeout, 1);
  return job;
}

// Expects nothing until the peer is lost.
void expect_silence(End& end) {
  std::string why;
  end.lost = [&](int, const char* said) { why = said; };
  end.run_until([&] { return !why.empty(); });
  MUST(why == "has not been heard of for 2 s: its machine is down, or the network is cut");
}

class CutTest : public testing::TestWithParam<bool> {
 protected:
  void in_network(const std::function<void()>& body) {
    int status = in_own_network(body);
    if (status == kNotPermitted) GTEST_SKIP() << "this process may not make a network of its own";
    EXPECT_EQ(status, 0);
  }
};

// The parameter: both processes are idle, or both send all the time.
TEST_P(CutTest, TheOtherMachineIsLost) {
  in_network([&] {
    expect_done(run_job(apart(), 2, [&](End& end) {
      static std::vector<char> bulk(8 << 20);
      static Outgoing outgoing = {[](Outgoing*) {}};
      bool is_here = false;
      end.deliver = [&](int, const Frame&, const uint64_t*) { is_here = true; };
      auto send = [&](uint64_t bytes) {
        Frame frame = {};
        frame.bulk = bytes;
        (void)!end.kind->send(end.wire, 1 - end.number(), frame, nullptr, bulk.data(), &outgoing);
      };
      send(0);
      end.run_until([&] { return is_here; });
      if (GetParam()) {
        for (int i = 0; i < 200; ++i) send(bulk.size());
      }
      if (end.number() == 0) MUST(set_loopback(false));
      expect_silence(end);
    }));
  });
}

INSTANTIATE_TEST_SUITE_P(All, CutTest, testing::Bool(), [](const auto& busy) { return busy.param ? "Busy" : "Idle"; });

// A process that is stopped for longer than the time limit, as by a debugger, while the other one sends all that it
// can: the machine still answers.
TEST(StoppedTest, AProcessThatDoesNotReadIsNotLost) {
  expect_done(run_job(apart(), 2, [&](End& end) {
    static std::vector<char> bulk(8 << 20);
    static int sent = 0;
    uint64_t got = 0;
    constexpr int kBulks = 8;
    end.place = [&](int, const Frame&, const uint64_t*) { return static_cast<void*>(bulk.data()); };
    end.deliver = [&](int, const Frame& frame, const uint64_t*) { got += frame.bulk; };
    if (end.number() == 1) {
      usleep(5'000'000);
      end.run_until([&] { return got == kBulks * bulk.size(); });
      return end.leave();
    }
    static Outgoing outgoing = {[](Outgoing*) { ++sent; }};
    Frame frame = {};
    frame.bulk = bulk.size();
    int waits = 0;
    for (int i = 0; i < kBulks; ++i) {
      waits += end.kind->send(end.wire, 1, frame, nullptr, bulk.data(), &outgoing) ? 0 : 1;
    }
    end.run_until([&] { return sent == waits; });
    end.leave();
  }));
}

}  // namespace
}  // namespace marline::offload::wire::test
