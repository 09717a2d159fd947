// SPDX-License-Identifier: Apache-2.0
//
// Both sides of the handshake of two processes.
#include "wire/local/handshake.hpp"

#include "wire/local/siphash.hpp"

#include <sys/random.h>

#include <cstring>

namespace marline::offload::wire {

namespace {

constexpr uint64_t kMagic = 0x32657269'776c726d;  // contains the byte order and the version
constexpr uint64_t kAccepted = 0x656d6f63'6c657721;

using Hello = Handshake::Hello;
using Challenge = Handshake::Challenge;

enum class Prover : uint64_t { kAccepter = 1, kConnector = 2 };

uint64_t prove(const Job& job, Prover prover, const Hello& hello, const uint64_t (&nonce)[2]) {
  struct {
    Prover prover;
    Hello hello;
    uint64_t nonce[2];
  } text = {prover, hello, {nonce[0], nonce[1]}};
  return siphash(job.secret, &text, sizeof text);
}

template <class Type>
Handshake::Answer answer_with(const Type& value) {
  Handshake::Answer answer = {};
  static_assert(sizeof value <= sizeof answer.bytes);
  std::memcpy(answer.bytes, &value, sizeof value);
  answer.count = sizeof value;
  return answer;
}

}  // namespace

void choose(uint64_t (&nonce)[2]) {
  if (getrandom(nonce, 16, 0) != 16) nonce[0] = reinterpret_cast<uint64_t>(nonce);  // cannot happen for 16 bytes
}

HandshakeResult greet(int socket, const Job& job, int other, Purpose purpose, Deadline deadline) {
  Hello hello = {.magic = kMagic,
                 .number = static_cast<uint32_t>(job.number),
                 .count = static_cast<uint32_t>(job.count),
                 .other = static_cast<uint32_t>(other),
                 .purpose = purpose,
                 .nonce = {}};
  choose(hello.nonce);
  Challenge challenge;
  if (!send_all(socket, &hello, sizeof hello, deadline)) return HandshakeResult::kClosed;
  if (!receive_all(socket, &challenge, sizeof challenge, deadline)) return HandshakeResult::kClosed;
  if (challenge.proof != prove(job, Prover::kAccepter, hello, challenge.nonce)) return HandshakeResult::kStranger;
  uint64_t proof = prove(job, Prover::kConnector, hello, challenge.nonce), answer = 0;
  if (!send_all(socket, &proof, sizeof proof, deadline)) return HandshakeResult::kClosed;
  if (!receive_all(socket, &answer, sizeof answer, deadline)) return HandshakeResult::kClosed;
  return answer == kAccepted ? HandshakeResult::kDone : HandshakeResult::kStranger;
}

size_t Handshake::wants() const {
  if (state_ == State::kAwaitsHello) return sizeof hello_ - got_;
  return state_ == State::kAwaitsProof ? sizeof proof_ - got_ : 0;
}

Handshake::Answer Handshake::take(const Job& job, const char* bytes, size_t count) {
  bool is_hello = state_ == State::kAwaitsHello;
  std::memcpy((is_hello ? reinterpret_cast<char*>(&hello_) : reinterpret_cast<char*>(&proof_)) + got_, bytes, count);
  got_ += count;
  if (wants() != 0) return {};
  got_ = 0;
  return is_hello ? transition_to_challenged(job) : transition_to_judged(job);
}

// Several processes may know the secret. A process that the connecting process does not mean refuses before it answers.
Handshake::Answer Handshake::transition_to_challenged(const Job& job) {
  auto count = static_cast<uint32_t>(job.count);
  bool fits = hello_.magic == kMagic && hello_.purpose == purpose_ && hello_.count == count && hello_.number < count &&
              hello_.other == static_cast<uint32_t>(job.number);
  state_ = fits ? State::kAwaitsProof : State::kRefused;
  if (!fits) return {};
  return answer_with(Challenge{{nonce_[0], nonce_[1]}, prove(job, Prover::kAccepter, hello_, nonce_)});
}

Handshake::Answer Handshake::transition_to_judged(const Job& job) {
  bool knows = proof_ == prove(job, Prover::kConnector, hello_, nonce_);
  state_ = knows ? State::kProven : State::kRefused;
  return knows ? answer_with(kAccepted) : Answer{};
}

uint64_t job_word_of(const Job& job) {
  static constexpr char kText[] = "frame";
  return siphash(job.secret, kText, sizeof kText);
}

}  // namespace marline::offload::wire
