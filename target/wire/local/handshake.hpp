// SPDX-License-Identifier: Apache-2.0
//
// How two processes find out that they belong to one job: both prove that they know its secret, without sending it. That
// keeps out programs that meet a socket by chance, processes of another job at the same address, and users of the machine
// who were not given the secret. It does not hide or sign what is sent afterwards: a network on which others read or
// change packets needs more.
#pragma once

#include "wire/base/wire.hpp"
#include "wire/local/sockets.hpp"

namespace marline::target {

enum class Purpose : uint32_t { kMeet = 1, kLink = 2, kAgent = 3 };
enum class Greeting : uint8_t { kDone, kClosed, kStranger };

// By the process that has connected, to that with the number `other`. kClosed: there was no answer, or a refusal.
[[nodiscard]] Greeting greet(int socket, const Job& job, int other, Purpose purpose, Deadline deadline);

// By the process that has accepted. The number of the other process, or -1: it is not one of this job.
[[nodiscard]] int take_greeting(int socket, const Job& job, Purpose purpose, Deadline deadline);

// What stands in frames for the secret.
[[nodiscard]] uint64_t job_word_of(const Job& job);

}  // namespace marline::target
