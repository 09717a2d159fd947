// SPDX-License-Identifier: Apache-2.0
//
// Calls futex(2).
#include "base/futex.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"

namespace marline {
namespace {

static_assert(sizeof(Atomic<uint32_t>) == sizeof(uint32_t), "the kernel sees the word itself");

long wait(Atomic<uint32_t>& word, uint32_t expected, const timespec* timeout) {
  const int saved_errno = errno;
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, timeout, nullptr, 0);
  const int error = result == 0 ? 0 : errno;
  errno = saved_errno;
  return error;
}

}  // namespace

void futex_wait(Atomic<uint32_t>& word, uint32_t expected) {
  const long error = wait(word, expected, nullptr);
  if (error != 0 && error != EAGAIN && error != EINTR) fatal("futex wait: %s", strerror(static_cast<int>(error)));
}

bool futex_wait_for(Atomic<uint32_t>& word, uint32_t expected, uint64_t nanoseconds) {
  timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1000000000u);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1000000000u);
  const long error = wait(word, expected, &timeout);
  if (error == ETIMEDOUT) return false;
  if (error != 0 && error != EAGAIN && error != EINTR) fatal("futex wait: %s", strerror(static_cast<int>(error)));
  return true;
}

void futex_wake(Atomic<uint32_t>& word, int count) {
  const int saved_errno = errno;
  // EFAULT: the word's page has been unmapped, so its sleeper has ended (see futex.hpp). No other error is possible
  // here.
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
  errno = saved_errno;
}

}  // namespace marline
