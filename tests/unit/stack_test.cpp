// SPDX-License-Identifier: Apache-2.0
//
// exec/fiber/stack.hpp: a thread's own stack is the one that glibc reports; which stacks keep their memory.
#include "exec/fiber/stack.hpp"

#include "config/read_options.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

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

bool in_memory(const Stack& stack) {
  unsigned char resident = 0;
  const uintptr_t page = (reinterpret_cast<uintptr_t>(stack.high) - 1) & ~uintptr_t{4095};
  EXPECT_EQ(mincore(reinterpret_cast<void*>(page), 1, &resident), 0);
  return (resident & 1) != 0;
}

// Of many used stacks, the stacks that are allocated next keep their memory, also if every slab has a stack in use.
TEST(Stacks, ShrinkFromTheEnd) {
  constexpr size_t kStacks = 4096, kNext = 512, kOfSlab = 64;
  options_init();
  std::vector<Stack> stacks;
  for (size_t i = 0; i < kStacks; ++i) {
    stacks.push_back(stack_allocate());
    stacks.back().high[-1] = 1;
  }
  for (size_t i = 0; i < kStacks; ++i) {
    if (i % kOfSlab != 0) stack_free(stacks[i], false);
  }
  while (stacks_shrink()) {
  }
  for (size_t i = 0; i < kNext; ++i) {
    const Stack stack = stack_allocate();
    EXPECT_TRUE(in_memory(stack)) << i;
  }
}

}  // namespace
}  // namespace marline
