// SPDX-License-Identifier: Apache-2.0
//
// The handshake by which two processes find out that they belong to one job: both prove that they know its secret,
// without sending it. This keeps out programs that connect to a socket by chance, processes of another job at the same
// address, and users of the machine who do not have the secret. It does not hide or sign what is sent afterwards: a
// network on which others read or change packets needs more.
//
//     connecting process          accepting process
//     Hello, with a nonce      ->
//                              <- Challenge: another nonce, and a proof over both nonces
//     proof over both nonces   ->
//                              <- acceptance
//
// Both sides have chosen a nonce, so an answer of an older handshake is not valid. The acceptance shows the connecting
// process that the accepting process knows it: without an acceptance, the accepting process may have dropped it as a
// stranger, and the connecting process may try again.
#pragma once

#include "wire/local/sockets.hpp"

#include "wire/base/wire.hpp"

namespace marline::offload::wire {

enum class Purpose : uint32_t { kMeet = 1, kLink = 2, kLauncher = 3 };
enum class HandshakeResult : uint8_t { kDone, kClosed, kStranger };

// Called by the process that has connected to process `other`. Returns kClosed if there was no acceptance.
[[nodiscard]] HandshakeResult greet(int socket, const Job& job, int other, Purpose purpose, Deadline deadline);

// The accepting side. It uses no sockets: the caller passes the received bytes to `take` and sends the answer that it
// returns. One thread.
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

  // How many bytes the next step needs. `take` gets no more, because what follows the handshake is not part of it. 0:
  // there is no next step.
  [[nodiscard]] size_t wants() const;
  // `count`: at most wants().
  [[nodiscard]] Answer take(const Job& job, const char* bytes, size_t count);

  [[nodiscard]] State state() const { return state_; }
  // In kProven: the number of the connecting process.
  [[nodiscard]] int number() const { return static_cast<int>(hello_.number); }

 private:
  [[nodiscard]] Answer transition_to_challenged(const Job& job);
  [[nodiscard]] Answer transition_to_judged(const Job& job);

  Purpose purpose_;
  State state_ = State::kAwaitsHello;
  size_t got_ = 0;  // received bytes of the hello, or of the proof
  uint64_t nonce_[2];
  Hello hello_ = {};
  uint64_t proof_ = 0;
};

// Draws a random number that has not been used before.
void choose(uint64_t (&nonce)[2]);

// The word that frames carry in place of the secret.
[[nodiscard]] uint64_t job_word_of(const Job& job);

}  // namespace marline::offload::wire
