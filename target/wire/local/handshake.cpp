// SPDX-License-Identifier: Apache-2.0
//
// See the header. The connecting process sends Hello; the other one Challenge, with the check value of both; the first its
// own check value of the same. Either side has put a number of its own choice into it, so that an old answer is no answer.
#include "wire/local/handshake.hpp"

#include "wire/local/siphash.hpp"

#include <sys/random.h>

#include <cstring>

namespace marline::target {

namespace {

constexpr uint64_t kMagic = 0x31657269'776c726d;  // with the byte order and the version in it

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

enum class Prover : uint64_t { kAccepter = 1, kConnector = 2 };

uint64_t prove(const Job& job, Prover prover, const Hello& hello, const Challenge& challenge) {
  struct {
    Prover prover;
    Hello hello;
    uint64_t nonce[2];
  } text = {prover, hello, {challenge.nonce[0], challenge.nonce[1]}};
  return siphash(job.secret, &text, sizeof text);
}

void choose(uint64_t nonce[2]) {
  if (getrandom(nonce, 16, 0) != 16) nonce[0] = reinterpret_cast<uint64_t>(nonce);  // cannot happen for 16 bytes
}

}  // namespace

Greeting greet(int socket, const Job& job, int other, Purpose purpose, Deadline deadline) {
  Hello hello = {.magic = kMagic,
                 .number = static_cast<uint32_t>(job.number),
                 .count = static_cast<uint32_t>(job.count),
                 .other = static_cast<uint32_t>(other),
                 .purpose = purpose,
                 .nonce = {}};
  choose(hello.nonce);
  Challenge challenge;
  if (!send_all(socket, &hello, sizeof hello, deadline)) return Greeting::kClosed;
  if (!receive_all(socket, &challenge, sizeof challenge, deadline)) return Greeting::kClosed;
  if (challenge.proof != prove(job, Prover::kAccepter, hello, challenge)) return Greeting::kStranger;
  uint64_t proof = prove(job, Prover::kConnector, hello, challenge);
  return send_all(socket, &proof, sizeof proof, deadline) ? Greeting::kDone : Greeting::kClosed;
}

int take_greeting(int socket, const Job& job, Purpose purpose, Deadline deadline) {
  Hello hello;
  if (!receive_all(socket, &hello, sizeof hello, deadline) || hello.magic != kMagic || hello.purpose != purpose) return -1;
  // Before the answer: several processes may know the secret, and one that is not meant refuses.
  auto count = static_cast<uint32_t>(job.count);
  bool fits = hello.count == count && hello.number < count && hello.other == static_cast<uint32_t>(job.number);
  if (!fits) return -1;
  Challenge challenge = {};
  choose(challenge.nonce);
  challenge.proof = prove(job, Prover::kAccepter, hello, challenge);
  uint64_t proof;
  if (!send_all(socket, &challenge, sizeof challenge, deadline)) return -1;
  if (!receive_all(socket, &proof, sizeof proof, deadline)) return -1;
  return proof == prove(job, Prover::kConnector, hello, challenge) ? static_cast<int>(hello.number) : -1;
}

uint64_t job_word_of(const Job& job) {
  static constexpr char kText[] = "frame";
  return siphash(job.secret, kText, sizeof kText);
}

}  // namespace marline::target
