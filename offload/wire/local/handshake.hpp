// SPDX-License-Identifier: Apache-2.0
//
// How two processes find out that they belong to one job: both prove that they know its secret, without sending it.
// That keeps out programs that meet a socket by chance, processes of another job at the same address, and users of the
// machine who were not given the secret. It does not hide or sign what is sent afterwards: a network on which others
// read or change packets needs more.
//
//     connects                       accepts
//     Hello, a number of its own ->
//                                 <- Challenge: a number of its own, and the check value of both
//     check value of both        ->
//                                 <- welcome
//
// As either side has chosen a number, an old answer is no answer. By the welcome the connecting process knows that it
// has been heard: without it, the other one may have taken it for a stranger, and it may try again.
#pragma once

#include "wire/local/sockets.hpp"

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

enum class Purpose : uint32_t { kMeet = 1, kLink = 2, kAgent = 3 };
enum class Greeting : uint8_t { kDone, kClosed, kStranger };

// By the process that has connected, to that with the number `other`. kClosed: there was no welcome.
[[nodiscard]] Greeting greet(int socket, const Job& job, int other, Purpose purpose, Deadline deadline);

// The accepting side, without sockets: what has come goes in, what is to be sent comes out. One thread.
class Handshake {
 public:
  enum class State : uint8_t { kAwaitsHello, kAwaitsProof, kProven, kRefused };

  struct Hello {
    uint64_t magic;
    uint32_t number, count;
    uint32_t other;
    Purpose purpose;
    uint64_t nonce[2];
  };
  struct Challenge {
    uint64_t nonce[2];
    uint64_t proof;
  };
  struct Answer {
    char bytes[sizeof(Challenge)];
    size_t count;  // 0: none yet
  };

  // `nonce`: drawn for this connection.
  Handshake(Purpose purpose, const uint64_t (&nonce)[2]) : purpose_(purpose), nonce_{nonce[0], nonce[1]} {}

  // Bytes until the next step: no more are taken, as what follows the handshake is not its own. 0: there is none.
  [[nodiscard]] size_t wants() const;
  // `count`: at most wants().
  [[nodiscard]] Answer take(const Job& job, const char* bytes, size_t count);

  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] int number() const { return static_cast<int>(hello_.number); }  // kProven: of the other process

 private:
  [[nodiscard]] Answer transition_to_challenged(const Job& job);
  [[nodiscard]] Answer transition_to_judged(const Job& job);

  Purpose purpose_;
  State state_ = State::kAwaitsHello;
  size_t got_ = 0;  // of what it awaits
  uint64_t nonce_[2];
  Hello hello_ = {};
  uint64_t proof_ = 0;
};

// A number that has not been before.
void choose(uint64_t (&nonce)[2]);

// What stands in frames for the secret.
[[nodiscard]] uint64_t job_word_of(const Job& job);

}  // namespace marline::offload::wire
