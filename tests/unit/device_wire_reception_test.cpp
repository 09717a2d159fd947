// SPDX-License-Identifier: Apache-2.0
//
// The accepting side of a job's handshakes: the state machine under random and damaged input, and many connections at
// once: some belong to the job, others send nothing, or nonsense, or come from another user.
#include "wire_job.hpp"

#include "wire/local/reception.hpp"

#include <grp.h>
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <random>

namespace marline::offload::wire::test {
namespace {

constexpr int kCount = 4;  // processes of the job

Job job_of(int number) {
  static const TestJob job;
  return job.of(number, kCount);
}

// Runs both sides: the connecting one in a child, this one fed in pieces of random sizes, damaged at a byte if that is
// >= 0.
Handshake::State run_handshake(std::mt19937& random, Purpose purpose, int damaged, HandshakeResult& greeting) {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  pid_t child = start([&] {
    close(ends[0]);
    _exit(static_cast<int>(greet(ends[1], job_of(2), 1, Purpose::kLink, Deadline(10'000))));
  });
  close(ends[1]);
  uint64_t nonce[2];
  choose(nonce);
  Handshake handshake(purpose, nonce);
  int at = 0;
  while (handshake.wants() != 0) {
    char bytes[64];
    size_t most = std::uniform_int_distribution<size_t>(1, handshake.wants())(random);
    EXPECT_TRUE(wait_for(ends[0], POLLIN, Deadline(10'000)));
    ssize_t got = receive_some(ends[0], bytes, most);
    if (got <= 0) break;
    if (damaged >= at && damaged < at + got) bytes[damaged - at] ^= 1;
    at += static_cast<int>(got);
    Handshake::Answer answer = handshake.take(job_of(1), bytes, static_cast<size_t>(got));
    EXPECT_TRUE(send_all(ends[0], answer.bytes, answer.count, Deadline(1000)));
  }
  close(ends[0]);
  greeting = static_cast<HandshakeResult>(status_of(child));
  return handshake.state();
}

TEST(HandshakeTest, ItTakesWhatComesInPieces) {
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    HandshakeResult greeting;
    EXPECT_EQ(run_handshake(random, Purpose::kLink, -1, greeting), Handshake::State::kProven);
    EXPECT_EQ(greeting, HandshakeResult::kDone);
  }
}

TEST(HandshakeTest, AnyDamagedByteIsRefused) {
  std::mt19937 random(2);
  constexpr int kSent = sizeof(Handshake::Hello) + sizeof(uint64_t);
  for (int byte = 0; byte < kSent; ++byte) {
    HandshakeResult greeting;
    EXPECT_NE(run_handshake(random, Purpose::kLink, byte, greeting), Handshake::State::kProven) << byte;
    EXPECT_NE(greeting, HandshakeResult::kDone) << byte;
  }
}

TEST(HandshakeTest, AnotherPurposeIsRefused) {
  std::mt19937 random(3);
  HandshakeResult greeting;
  EXPECT_EQ(run_handshake(random, Purpose::kMeet, -1, greeting), Handshake::State::kRefused);
  EXPECT_EQ(greeting, HandshakeResult::kClosed);
}

// Sockets ------------------------------------------------------------------------------------------------------------

class ReceptionTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    listener_ = listen_at(GetParam() ? loopback_address() : unnamed_address());
    address_ = own_address(listener_);
    ASSERT_TRUE(reception_.open(job_, Purpose::kMeet, {.bytes = 8}, &listener_, 1));
  }
  void TearDown() override {
    reception_.close();
    close(listener_);
  }

  [[nodiscard]] int connected() const {
    for (;;) {
      int socket = connect_to(address_, Deadline(10'000));
      if (socket >= 0 || errno != EAGAIN) return socket;
      usleep(1000);
    }
  }

  // Starts a process of the job, which calls until it is accepted. Its exit status: how many times it was refused.
  pid_t start_caller(int number, useconds_t pause = 0) const {
    return start([=, this] {
      for (int tries = 0;; ++tries) {
        int socket = connected();
        usleep(pause);
        HandshakeResult greeting = greet(socket, job_of(number), 0, Purpose::kMeet, Deadline(20'000));
        if (greeting == HandshakeResult::kClosed) {
          close(socket);
          continue;
        }
        uint64_t word = 100 + static_cast<uint64_t>(number);
        MUST(greeting == HandshakeResult::kDone && send_all(socket, &word, sizeof word, Deadline(1000)));
        char end;
        MUST(!receive_all(socket, &end, 1, Deadline(20'000)));  // the other side closes
        _exit(0);
      }
    });
  }

  // The numbers of the processes that have been accepted.
  std::vector<int> hear(size_t count) {
    std::vector<int> numbers;
    Deadline deadline(20'000);
    while (numbers.size() < count) {
      Caller caller;
      if (reception_.next(caller, deadline) != Reception::Outcome::kCaller) break;
      uint64_t word;
      std::memcpy(&word, caller.bytes, sizeof word);
      EXPECT_EQ(word, 100 + static_cast<uint64_t>(caller.number));
      numbers.push_back(caller.number);
      close(caller.socket);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  Job job_ = job_of(0);
  int listener_ = -1;
  Address address_;
  Reception reception_;
};

TEST_P(ReceptionTest, SilentConnectionsKeepNobodyWaiting) {
  std::vector<int> silent;
  for (int i = 0; i < 3 * Reception::kStrangers; ++i) silent.push_back(connected());
  std::vector<pid_t> callers;
  for (int number = 1; number < kCount; ++number) callers.push_back(start_caller(number));
  EXPECT_EQ(hear(3), (std::vector<int>{1, 2, 3}));
  for (pid_t caller : callers) EXPECT_EQ(status_of(caller), 0);
  for (int socket : silent) close(socket);
}

// Connections that send nonsense, stop in the middle, or close come and go meanwhile.
TEST_P(ReceptionTest, AFloodKeepsNobodyWaiting) {
  pid_t flood = start([&] {
    std::mt19937 random(4);
    std::deque<int> open;
    for (;;) {
      open.push_back(connected());
      char bytes[200];
      for (char& byte : bytes) byte = static_cast<char>(random());
      (void)!send(open.back(), bytes, random() % sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (open.size() < 300) continue;
      close(open.front());
      open.pop_front();
    }
  });
  for (int round = 0; round < 5; ++round) {
    std::vector<pid_t> callers;
    for (int number = 1; number < kCount; ++number) callers.push_back(start_caller(number, 2000));
    EXPECT_EQ(hear(3), (std::vector<int>{1, 2, 3}));
    for (pid_t caller : callers) EXPECT_EQ(status_of(caller), 0);
  }
  kill(flood, SIGKILL);
  (void)status_of(flood);
}

// One source has too many connections: the first of another one stays.
TEST(ReceptionSourcesTest, TheOldestOfTheLargestSourceGoes) {
  Job job = job_of(0);
  Reception reception;
  int listener = listen_at(unnamed_address());
  Address address = own_address(listener);
  ASSERT_TRUE(reception.open(job, Purpose::kMeet, {}, &listener, 1));
  int first = connect_to(address, Deadline(1000)), ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t other = start([&] {
    for (int i = 0; i < 2 * Reception::kStrangers; ++i) MUST(connect_to(address, Deadline(1000)) >= 0);
    MUST(write(ready[1], "", 1) == 1);
    pause();
  });
  char byte;
  EXPECT_EQ(read(ready[0], &byte, 1), 1);
  Caller caller;
  EXPECT_EQ(reception.next(caller, Deadline(100)), Reception::Outcome::kTimeIsOver);
  EXPECT_FALSE(wait_for(first, POLLIN, Deadline(0)));  // it has not been closed
  kill(other, SIGKILL);
  (void)status_of(other);
  reception.close();
  close(first);
  close(listener);
}

// A process that may open no more files still accepts connections that send.
TEST_P(ReceptionTest, SilentConnectionsDoNotTakeAllFiles) {
  std::vector<int> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(connected());
  pid_t hearing = start([&] {
    rlimit limit = {};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(silent.back() + 10);
    setrlimit(RLIMIT_NOFILE, &limit);
    MUST(hear(1) == std::vector<int>{2});
  });
  pid_t caller = start_caller(2);
  EXPECT_EQ(status_of(hearing), 0);
  EXPECT_EQ(status_of(caller), 0);
  for (int socket : silent) close(socket);
}

TEST(ReceptionUsersTest, AnotherUserIsNotHeard) {
  if (geteuid() != 0) GTEST_SKIP() << "this takes root, to be another user";
  int listener = listen_at(unnamed_address());
  Address address = own_address(listener);
  pid_t other = start([&] {
    MUST(setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
    // The connecting side itself refuses the listener of another user.
    MUST(connect_to(address, Deadline(1000)) < 0 && errno == EACCES);
    int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    MUST(connect(socket, address.get(), address.length) == 0);
    char byte;
    MUST(recv(socket, &byte, 1, 0) <= 0);  // closed
  });
  // The first connection, made by connect_to, may have been closed before.
  int refused = 0;
  while (refused < 2 && wait_for(listener, POLLIN, Deadline(5000))) {
    EXPECT_LT(accept_from(listener), 0);
    if (errno == EACCES) ++refused;
  }
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(status_of(other), 0);
  close(listener);
}

INSTANTIATE_TEST_SUITE_P(All, ReceptionTest, testing::Bool(),
                         [](const auto& by_tcp) { return by_tcp.param ? "Tcp" : "Machine"; });

}  // namespace
}  // namespace marline::offload::wire::test
