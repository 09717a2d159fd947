// SPDX-License-Identifier: Apache-2.0
//
// exec/fiber/stack.hpp: a thread's own stack is what glibc says it is.
#include "exec/fiber/stack.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace marline {
namespace {

Stack by_glibc() {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  return {static_cast<char*>(low), static_cast<char*>(low) + size};
}

bool agrees_with_glibc() {
  const Stack ours = stack_of_thread(pthread_self()), theirs = by_glibc();
  EXPECT_EQ(ours.low, theirs.low);
  EXPECT_EQ(ours.high, theirs.high);
  return ours.low == theirs.low && ours.high == theirs.high;
}

TEST(StackOfThread, OfTheFirstThread) {
  EXPECT_TRUE(agrees_with_glibc());
  const Stack stack = stack_of_thread(pthread_self());
  const auto* here = static_cast<const char*>(__builtin_frame_address(0));
  EXPECT_LT(stack.low, here);
  EXPECT_GT(stack.high, here);
}

TEST(StackOfThread, UnderEveryLimit) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &before), 0);
  constexpr rlim_t kMiB = rlim_t{1} << 20;
  for (const rlim_t limit : {kMiB, 8 * kMiB, 16 * kMiB + 100, 1024 * kMiB, before.rlim_max}) {
    if (limit > before.rlim_max) continue;
    SCOPED_TRACE(limit);
    const rlimit wanted{limit, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_STACK, &wanted), 0);
    EXPECT_TRUE(agrees_with_glibc());
  }
  ASSERT_EQ(setrlimit(RLIMIT_STACK, &before), 0);
}

TEST(StackOfThread, OfOtherThreads) {
  std::thread other([] { EXPECT_TRUE(agrees_with_glibc()); });
  other.join();
}

// The child's first thread has the stack of the thread that forked.
TEST(StackOfThread, OfAThreadThatForked) {
  std::thread other([] {
    const pid_t child = fork();
    if (child == 0) _exit(agrees_with_glibc() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
  other.join();
}

}  // namespace
}  // namespace marline
