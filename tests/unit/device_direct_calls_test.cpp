// SPDX-License-Identifier: Apache-2.0
//
// Which functions call getppid, by each of the two ways in which compilers call functions of other modules.
#include "direct_calls_code.hpp"
#include "image/direct_calls.hpp"

#include <dlfcn.h>

#include <gtest/gtest.h>

namespace marline::offload::image {
namespace {

bool calls(int (*function)(), const char* prefix) {
  return calls_directly(reinterpret_cast<const void*>(function), prefix);
}

class DirectCalls : public testing::TestWithParam<const Calls*> {};

TEST_P(DirectCalls, AreFound) {
  EXPECT_TRUE(calls(GetParam()->by_call, "getppid"));
  EXPECT_TRUE(calls(GetParam()->by_call, "getpp"));
  EXPECT_TRUE(calls(GetParam()->by_jump, "getppid"));
}

TEST_P(DirectCalls, OfOtherFunctionsAreNot) {
  EXPECT_FALSE(calls(GetParam()->behind_another, "getppid"));
  EXPECT_FALSE(calls(GetParam()->another_name, "getppid"));
  EXPECT_FALSE(calls(GetParam()->none, "getppid"));
  EXPECT_FALSE(calls(GetParam()->by_call, "no_such_function"));
}

TEST_P(DirectCalls, OfTheProviderAreFound) {
  const auto* function = reinterpret_cast<const void*>(GetParam()->by_call);
  (void)GetParam()->by_call();  // the loader resolves getppid now at the latest
  EXPECT_TRUE(calls_directly(function, "getppid", dlsym(RTLD_DEFAULT, "getpgrp")));
  EXPECT_FALSE(calls_directly(function, "getppid", function));
}

INSTANTIATE_TEST_SUITE_P(, DirectCalls, testing::Values(&g_by_stubs, &g_by_slots));

// Functions such as those that combine a reduction's copies.
TEST(StandsAlone, WhatUsesItsArgumentsAlone) {
  for (const auto* code : {&g_alone_by_stubs, &g_alone_by_slots}) {
    EXPECT_TRUE(stands_alone(reinterpret_cast<const void*>(code->adds)));
    EXPECT_TRUE(stands_alone(reinterpret_cast<const void*>(code->adds_many)));
    EXPECT_TRUE(stands_alone(reinterpret_cast<const void*>(code->calls_another)));
    EXPECT_TRUE(stands_alone(reinterpret_cast<const void*>(code->uses_constants)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->reads_variable)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->writes_static)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->reads_threads)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->calls_reader)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->jumps_to_reader)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->takes_readers_address)));
    EXPECT_FALSE(stands_alone(reinterpret_cast<const void*>(code->calls_library)));
  }
  EXPECT_FALSE(stands_alone(nullptr));
}

TEST(DirectCallsElsewhere, AnAddressThatIsNoFunctionsBegin) {
  const auto* inside = reinterpret_cast<const char*>(g_by_stubs.by_call) + 1;
  EXPECT_FALSE(calls_directly(inside, "getppid"));
  int local = 0;
  EXPECT_FALSE(calls_directly(&local, "getppid"));
  EXPECT_FALSE(calls_directly(nullptr, "getppid"));
}

}  // namespace
}  // namespace marline::offload::image
