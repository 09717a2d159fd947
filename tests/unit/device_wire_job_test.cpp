// SPDX-License-Identifier: Apache-2.0
//
// What the environment says of a job, and what happens to the job if processes do not come, are strangers, end or
// leave.
#include "wire_job.hpp"

#include "wire/base/job.hpp"
#include "wire/local/crowding.hpp"
#include "wire/local/siphash.hpp"

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <regex>

namespace marline::offload::wire::test {
namespace {

constexpr const char* kVariables[] = {"MARLINE_JOB",         "MARLINE_JOB_NUMBER", "MARLINE_JOB_COUNT",
                                      "MARLINE_JOB_ADDRESS", "MARLINE_NODES_AS",   "MARLINE_WIRE"};

class EnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : kVariables) unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static void set(const char* secret, const char* number, const char* count, const char* address) {
    setenv("MARLINE_JOB", secret, 1);
    setenv("MARLINE_JOB_NUMBER", number, 1);
    setenv("MARLINE_JOB_COUNT", count, 1);
    setenv("MARLINE_JOB_ADDRESS", address, 1);
  }
  static void read() {
    Job job;
    std::exit(read_job(job) ? 0 : 1);
  }
  static constexpr const char* kSecret = "00112233445566778899AABBccddeeff";
};

TEST_F(EnvironmentTest, NoLauncherNoJob) {
  Job job;
  EXPECT_FALSE(read_job(job));
  EXPECT_EQ(job.nodes, nullptr);
}

TEST_F(EnvironmentTest, AJobIsRead) {
  set(kSecret, "2", "3", "unix:@x");
  setenv("MARLINE_NODES_AS", "a,a,b", 1);
  static Job job;  // the strings that it points to stay
  ASSERT_TRUE(read_job(job));
  EXPECT_EQ(job.number, 2);
  EXPECT_EQ(job.count, 3);
  EXPECT_EQ(job.secret[0], 0x0011223344556677u);
  EXPECT_EQ(job.secret[1], 0x8899aabbccddeeffu);
  EXPECT_STREQ(job.address, "unix:@x");
  EXPECT_STREQ(job.nodes[2], "b");
  EXPECT_EQ(job.nodes[3], nullptr);
}

TEST_F(EnvironmentTest, WiresAreChosen) {
  EXPECT_EQ(chosen_wire(), WireChoice::kAuto);
  setenv("MARLINE_WIRE", "LOCAL", 1);
  EXPECT_EQ(chosen_wire(), WireChoice::kLocal);
  setenv("MARLINE_WIRE", "mpi", 1);
  EXPECT_EQ(chosen_wire(), WireChoice::kMpi);
  setenv("MARLINE_WIRE", "string", 1);
  EXPECT_DEATH((void)chosen_wire(), "MARLINE_WIRE=\"string\" is not usable: expected auto, local or mpi");
}

TEST_F(EnvironmentTest, WhatIsWrongIsSaid) {
  set("0011", "0", "1", "unix:@x");
  EXPECT_DEATH(read(), "MARLINE_JOB is not 32 hexadecimal digits");
  set(kSecret, "3", "3", "unix:@x");
  EXPECT_DEATH(read(), "MARLINE_JOB_NUMBER=\"3\" is not usable: expected a number from 0 to 2");
  set(kSecret, "", "3", "unix:@x");
  EXPECT_DEATH(read(), "MARLINE_JOB_NUMBER is not");
  set(kSecret, "0", "-1", "unix:@x");
  EXPECT_DEATH(read(), "MARLINE_JOB_COUNT=\"-1\" is not usable: expected");
  set(kSecret, "0", "1", "");
  EXPECT_DEATH(read(), "MARLINE_JOB_ADDRESS is not");
  set(kSecret, "0", "2", "unix:@x");
  setenv("MARLINE_NODES_AS", "a,b,c", 1);
  EXPECT_DEATH(read(), "has 3 names, but the job has 2 processes");
  setenv("MARLINE_NODES_AS", "a,", 1);
  EXPECT_DEATH(read(), "MARLINE_NODES_AS=\"a,\" is not usable from");
}

// The reference implementation's vectors, vectors_sip64.
TEST(SiphashTest, KnownValues) {
  const uint64_t key[] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  char text[64];
  for (int i = 0; i < 64; ++i) text[i] = static_cast<char>(i);
  EXPECT_EQ(siphash(key, text, 0), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(siphash(key, text, 8), 0x93f5f5799a932462u);
  EXPECT_EQ(siphash(key, text, 15), 0xa129ca6149be45e5u);
}

std::string stderr_of(const std::function<void()>& body, int expected) {
  testing::internal::CaptureStderr();
  pid_t child = start(body);
  EXPECT_EQ(status_of(child), expected);
  return testing::internal::GetCapturedStderr();
}

// The machine counts as idle.
void join_alone(const TestJob& job, int number, int count, int patience = 300) {
  g_patience = patience;
  g_crowding = [] { return 1.0; };
  End end;
  end.join(job.of(number, count));
}

TEST(MeetingTest, NamesThoseWhoDoNotCome) {
  TestJob job;
  pid_t fourth = start([&] { join_alone(job, 3, 6, 5000); });
  std::string said = stderr_of([&] { join_alone(job, 0, 6); }, kFailed);
  std::regex expected(R"(has waited (0\.[3-9]|[1-9][0-9.]*) s for these of 6 processes to come: 1-2, 4-5)");
  EXPECT_TRUE(std::regex_search(said, expected)) << said;
  EXPECT_EQ(status_of(fourth), kFailed);
}

TEST(MeetingTest, LargeJobsHaveMoreTime) {
  TestJob job;
  std::string said = stderr_of([&] { join_alone(job, 0, 64, 100); }, kFailed);
  std::regex expected(R"(has waited (0\.[3-9]|[1-9][0-9.]*) s for these of 64 processes to come: 1-63)");
  EXPECT_TRUE(std::regex_search(said, expected)) << said;
}

TEST(MeetingTest, CrowdedMachinesHaveMoreTime) {
  std::string said = stderr_of(
      [&] {
        g_patience = 100;
        g_crowding = [] { return 4.0; };
        End end;
        end.join(TestJob().of(0, 2));
      },
      kFailed);
  std::regex expected(R"(has waited (0\.[4-9]|[1-9][0-9.]*) s for these of 2 processes to come: 1)");
  EXPECT_TRUE(std::regex_search(said, expected)) << said;
}

TEST(MeetingTest, NoProcess0) {
  std::string said = stderr_of([] { join_alone({}, 1, 2); }, kFailed);
  EXPECT_NE(said.find("process 1 of the job has not reached process 0 at unix:@"), std::string::npos) << said;
}

int first_free_descriptor() {
  int file = dup(STDERR_FILENO);
  close(file);
  return file;
}

// With any limit on open files, a process of the job joins, or reports at once that the limit is too low.
void join_with_few_files(int limited, int files) {
  TestJob job;
  std::vector<pid_t> others;
  for (int number = 0; number < 3; ++number) {
    if (number != limited) others.push_back(start([&] { join_alone(job, number, 3, 5000); }));
  }
  testing::internal::CaptureStderr();
  pid_t child = start([&] {
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(first_free_descriptor() + files);
    setrlimit(RLIMIT_NOFILE, &limit);
    join_alone(job, limited, 3, 5000);
  });
  int status = status_of(child);
  for (pid_t other : others) kill(other, SIGKILL);
  for (pid_t other : others) (void)status_of(other);
  std::string said = testing::internal::GetCapturedStderr();
  if (status == 0) return;
  EXPECT_EQ(status, kFailed) << files << " files, " << said;
  bool says_why = said.find("Too many open files") != std::string::npos || said.find("ulimit -n") != std::string::npos;
  EXPECT_TRUE(says_why) << files << " files, " << said;
}

TEST(MeetingTest, SaysThatFilesAreTooFew) {
  for (int files = 1; files < 16; ++files) {
    join_with_few_files(0, files);
    join_with_few_files(2, files);
  }
}

TEST(NetworkTest, AddressesInIt) {
  Address address;
  ASSERT_EQ(parse_address("tcp:10.1.2.3:7", address), nullptr);
  for (const char* text : {"10.1.2.3", "10.1.2.3/32", "10.1.0.0/16", "10.1.2.2/31", "9.0.0.0/0"}) {
    Network network;
    EXPECT_TRUE(parse_network(text, network) && network.has(address)) << text;
  }
  for (const char* text : {"10.1.2.4", "10.2.0.0/16", "10.1.2.0/31"}) {
    Network network;
    EXPECT_TRUE(parse_network(text, network) && !network.has(address)) << text;
  }
  Network network;
  for (const char* text : {"", "10.1", "10.1.2.3/", "10.1.2.3/33", "10.1.2.3/x", "10.1.2.3/8x", "eth0", "::1"}) {
    EXPECT_FALSE(parse_network(text, network)) << text;
  }
}

TEST(MeetingTest, AddressesThatAreNone) {
  for (const char* address : {"tcp:", "tcp:x", "tcp:127.0.0.1:", "tcp:127.0.0.1:x", "unix:", "unix:@", "udp:@x"}) {
    TestJob job;
    job.address = address;
    std::string said = stderr_of([&] { join_alone(job, 0, 2); }, kFailed);
    EXPECT_NE(said.find("expected unix:@NAME or tcp:HOST:PORT"), std::string::npos) << said;
  }
}

// The worker of a rank does not wait for the rank if that has ended meanwhile.
TEST(MeetingTest, AProcess0ThatHasEndedIsNotAwaited) {
  TestJob job;
  pid_t child = start([&] {
    g_patience = 600'000;
    End end;
    end.lost = [](int peer, const char* why) { _exit(peer == 0 && std::strcmp(why, kHasEnded) == 0 ? 3 : 4); };
    Job begun = job.of(1, 2);
    begun.is_begun = true;
    end.join(begun);
  });
  EXPECT_EQ(status_of(child), 3);
}

TEST(MeetingTest, AnotherSecretIsRefusedAndTheJobGoesOn) {
  TestJob job, other;
  other.secret[1] ^= 1;
  pid_t first = start([&] { join_alone(job, 0, 2, 5000); });
  std::string said = stderr_of([&] { join_alone(other, 1, 2, 5000); }, kFailed);
  EXPECT_NE(said.find("has another secret than process 1"), std::string::npos) << said;
  pid_t second = start([&] { join_alone(job, 1, 2, 5000); });
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
}

TEST(MeetingTest, StrangersDoNotKeepTheJob) {
  TestJob job;
  pid_t first = start([&] { join_alone(job, 0, 2, 8000); });
  Address address;
  ASSERT_EQ(parse_address(job.address.c_str(), address), nullptr);
  std::vector<int> silent;
  while (silent.size() < 40) {
    int socket = connect_to(address, Deadline(1000));
    if (socket >= 0) silent.push_back(socket);
  }
  int loud = connect_to(address, Deadline(1000));
  ASSERT_TRUE(send_all(loud, std::string(500, 'x').data(), 500, Deadline(1000)));
  pid_t second = start([&] { join_alone(job, 1, 2, 8000); });
  EXPECT_EQ(status_of(first), 0);
  EXPECT_EQ(status_of(second), 0);
  for (int socket : silent) close(socket);
  close(loud);
}

TEST(MeetingTest, ByTcp) {
  TestJob job;
  Address any = loopback_address();
  int listener = listen_at(any);
  job.address = "tcp:localhost:" + std::to_string(own_address(listener).port());
  close(listener);
  job.nodes = {"a", "a", "b", "c"};
  expect_done(run_job(job, 4, [](End& end) { end.leave(); }));
}

class EndTest : public testing::TestWithParam<bool> {
 protected:
  TestJob job() const {
    TestJob job;
    if (GetParam())
      job.nodes = {"a", "b", "c"};
    else
      job.nodes = {"a", "a", "a"};
    return job;
  }
};

// Its frames arrive first, then its loss, also while its peers sleep.
TEST_P(EndTest, AKilledPeerIsNoticed) {
  std::vector<int> statuses = run_job(job(), 3, [](End& end) {
    int frames = 0;
    bool lost = false;
    end.deliver = [&](int, const Frame&, const uint64_t*) {
      MUST(!lost);
      ++frames;
    };
    end.lost = [&](int peer, const char* why) {
      MUST(peer == 1 && frames == 1000 && std::strcmp(why, "has ended") == 0);
      lost = true;
    };
    if (end.number() == 1) {
      for (int i = 0; i < 1000; ++i) {
        for (int peer : {0, 2}) end.kind->send(end.wire, peer, {}, nullptr, nullptr, nullptr);
      }
      for (int i = 0; i < 200; ++i) end.kind->poll(end.wire);
      usleep(50'000);
      raise(SIGKILL);
    }
    time_t begin = time(nullptr);
    while (!lost) {
      if (end.kind->poll(end.wire) == 0) end.kind->wait(end.wire, -1);
    }
    MUST(time(nullptr) - begin < 5 && end.kind->has_room(end.wire, 1));
    end.leave();
  });
  EXPECT_EQ(statuses, (std::vector<int>{0, 128 + SIGKILL, 0}));
}

TEST_P(EndTest, BulksToALostPeerAreTold) {
  static int told;
  std::vector<int> statuses = run_job(job(), 3, [](End& end) {
    static std::vector<char> bulk(50 << 20);
    bool lost = false;
    end.lost = [&](int, const char*) { lost = true; };
    if (end.number() == 1) {
      usleep(20'000);
      raise(SIGKILL);
    }
    Outgoing outgoing = {[](Outgoing*) { ++told; }};
    Frame frame = {};
    frame.bulk = bulk.size();
    int sent = 0;
    for (int i = 0; i < 4; ++i) sent += end.kind->send(end.wire, 1, frame, nullptr, bulk.data(), &outgoing) ? 0 : 1;
    end.run_until([&] { return lost && told == sent; });
    MUST(end.kind->send(end.wire, 1, frame, nullptr, bulk.data(), &outgoing));
    end.leave();
  });
  EXPECT_EQ(statuses, (std::vector<int>{0, 128 + SIGKILL, 0}));
}

// A process leaves without waiting for the others. Its frames arrive all the same, also if other frames are not read.
TEST_P(EndTest, LeavingAlone) {
  static constexpr uint64_t kFrames = 20'000;
  std::vector<int> statuses = run_job(job(), 3, [](End& end) {
    uint64_t frames = 0;
    end.deliver = [&](int peer, const Frame&, const uint64_t*) { frames += peer == 1 ? 1 : 0; };
    if (end.number() == 1) {
      for (uint64_t i = 0; i < kFrames; ++i) {
        for (int peer : {0, 2}) end.kind->send(end.wire, peer, {}, nullptr, nullptr, nullptr);
      }
      return end.leave(false);
    }
    for (int i = 0; i < 100; ++i) end.kind->send(end.wire, 1, {}, nullptr, nullptr, nullptr);
    end.run_until([&] { return frames == kFrames; });
    end.leave();
  });
  expect_done(statuses);
}

TEST_P(EndTest, LeavingTogetherWaits) {
  expect_done(run_job(job(), 3, [](End& end) {
    timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (end.number() == 2) usleep(200'000);
    end.leave();
    clock_gettime(CLOCK_MONOTONIC, &now);
    MUST((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1'000'000 >= 150);
  }));
}

// A fork that lives on keeps nothing of the wire open.
TEST_P(EndTest, AForkDoesNotHideTheEnd) {
  std::vector<int> statuses = run_job(job(), 3, [](End& end) {
    bool lost = false;
    end.lost = [&](int peer, const char*) { lost = peer == 1; };
    if (end.number() == 1) {
      if (fork() == 0) {
        usleep(3'000'000);
        _exit(0);
      }
      raise(SIGKILL);
    }
    time_t begin = time(nullptr);
    end.run_until([&] { return lost; });
    MUST(time(nullptr) - begin < 2);
    end.leave();
  });
  EXPECT_EQ(statuses, (std::vector<int>{0, 128 + SIGKILL, 0}));
}

INSTANTIATE_TEST_SUITE_P(All, EndTest, testing::Bool(),
                         [](const auto& streams) { return streams.param ? "Streams" : "SharedMemory"; });

}  // namespace
}  // namespace marline::offload::wire::test
