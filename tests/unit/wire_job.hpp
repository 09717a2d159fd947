// SPDX-License-Identifier: Apache-2.0
//
// A job of real processes for tests of wires: the test forks one per peer, each runs a function and answers by its exit
// status. A process that a test cannot wait for ends with the test's program.
#pragma once

#include "wire/local/local.hpp"
#include "wire/local/local_meet.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace marline::offload::wire::test {

// In a process of the job: ends it.
#define MUST(condition)                                                          \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "%s:%d: MUST(%s)\n", __FILE__, __LINE__, #condition); \
      _exit(1);                                                                  \
    }                                                                            \
  } while (false)

inline constexpr int kFailed = 77;  // the exit status of WireUser::fail

// The user of a wire; the test sets its calls.
struct End {
  std::function<void*(int peer, const Frame&, const uint64_t* words)> place = [](int, const Frame&, const uint64_t*) {
    return static_cast<void*>(nullptr);
  };
  std::function<void(int peer, const Frame&, const uint64_t* words)> deliver = [](int, const Frame&, const uint64_t*) {
  };
  std::function<void(int peer, const char* why)> lost = [](int peer, const char* why) {
    std::fprintf(stderr, "process %d %s\n", peer, why);
    _exit(2);
  };
  const WireKind* kind = &kLocalWire;
  Wire* wire = nullptr;

  void join(const Job& job) {
    user_ = {this,
             [](void* data, int peer, const Frame& frame, const uint64_t* words) {
               return static_cast<End*>(data)->place(peer, frame, words);
             },
             [](void* data, int peer, const Frame& frame, const uint64_t* words) {
               static_cast<End*>(data)->deliver(peer, frame, words);
             },
             [](void* data, int peer, const char* why) { static_cast<End*>(data)->lost(peer, why); },
             [](const char* line) {
               std::fprintf(stderr, "%s\n", line);
               _exit(kFailed);
             }};
    wire = kind->join(job, &user_);
  }
  int number() const { return kind->number(wire); }
  int count() const { return kind->count(wire); }
  void run_until(const std::function<bool()>& condition) {
    while (!condition()) {
      if (kind->poll(wire) == 0) kind->wait(wire, 1000);
    }
  }
  void leave(bool all = true) { kind->leave(wire, all); }

 private:
  WireUser user_;
};

struct TestJob {
  std::string address = "unix:@marline-test-" + std::to_string(getpid());
  std::vector<const char*> nodes;  // empty: the true ones
  uint64_t secret[2] = {0x0123456789abcdef, 0xfedcba9876543210};

  Job of(int number, int count) const {
    return {number, count, {secret[0], secret[1]}, address.c_str(), nodes.empty() ? nullptr : nodes.data()};
  }
};

using Body = std::function<void(End&)>;

inline pid_t start(const std::function<void()>& body) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  body();
  _exit(0);
}

inline int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Runs `body` in each of `count` processes that have joined. Their exit statuses.
inline std::vector<int> run_job(const TestJob& job, int count, const Body& body) {
  std::vector<pid_t> children;
  for (int number = 0; number < count; ++number) {
    children.push_back(start([&] {
      End end;
      end.join(job.of(number, count));
      body(end);
    }));
  }
  std::vector<int> statuses;
  for (pid_t child : children) statuses.push_back(status_of(child));
  return statuses;
}

inline void expect_done(const std::vector<int>& statuses) {
  for (size_t i = 0; i < statuses.size(); ++i) EXPECT_EQ(statuses[i], 0) << "process " << i;
}

}  // namespace marline::offload::wire::test
