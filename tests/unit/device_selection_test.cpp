// SPDX-License-Identifier: Apache-2.0
//
// Lists of traits: which devices they name, in which order, and where a wrong text stops to be valid (OpenMP 6.0, 4.3.7
// and 4.3.8). The devices: 0, 2: GPUs of nvidia; 1: a GPU of amd; 3: a processor.
#include "base/device_set.hpp"
#include "base/selection.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace marline::offload {
namespace {

DeviceFacts device(const char* uid, const char* vendor, bool is_gpu) {
  DeviceFacts facts = {};
  std::snprintf(facts.uid, sizeof facts.uid, "%s", uid);
  std::snprintf(facts.vendor, sizeof facts.vendor, "%s", vendor);
  std::snprintf(facts.arch, sizeof facts.arch, "%s", is_gpu ? "nvptx64" : "x86_64");
  std::snprintf(facts.isa, sizeof facts.isa, "%s", is_gpu ? "sm_90" : "x86_64");
  facts.is_gpu = is_gpu;
  return facts;
}

const DeviceFacts kDevices[] = {device("GPU-a", "nvidia", true), device("GPU-b", "amd", true),
                                device("GPU-c", "nvidia", true), device("host-0", "intel", false)};

// "0 2" for devices 0 and 2, or "! REST" where the text is wrong.
std::string selected(const char* text) {
  int chosen[kMostDevices], count;
  if (const char* wrong = select_devices(text, kDevices, 4, chosen, count)) return std::string("! ") + wrong;
  std::string list;
  for (int i = 0; i < count; ++i) list += (i > 0 ? " " : "") + std::to_string(chosen[i]);
  return list;
}

std::string chosen(const char* text) {
  int number;
  const char* wrong = choose_device(text, kDevices, 4, number);
  return wrong != nullptr ? std::string("! ") + wrong : std::to_string(number);
}

TEST(Selection, Traits) {
  EXPECT_EQ(selected("*"), "0 1 2 3");
  EXPECT_EQ(selected("kind(gpu)"), "0 1 2");
  EXPECT_EQ(selected(" KIND( CPU ) "), "3");
  EXPECT_EQ(selected("kind(any)"), "0 1 2 3");
  EXPECT_EQ(selected("kind(nohost)"), "0 1 2 3");
  EXPECT_EQ(selected("kind(host)"), "");
  EXPECT_EQ(selected("vendor(AMD)"), "1");
  EXPECT_EQ(selected("arch(nvptx64)"), "0 1 2");
  EXPECT_EQ(selected("isa(x86_64)"), "3");
  EXPECT_EQ(selected("uid(GPU-c)"), "2");
  EXPECT_EQ(selected("uid(gpu-c)"), "");
}

TEST(Selection, Operators) {
  EXPECT_EQ(selected("!kind(gpu)"), "3");
  EXPECT_EQ(selected("kind(gpu)&&vendor(nvidia)"), "0 2");
  EXPECT_EQ(selected("!kind(cpu) && !vendor(amd)"), "0 2");
  EXPECT_EQ(selected("vendor(amd)||kind(cpu)"), "1 3");
  EXPECT_EQ(selected("kind(gpu) && (vendor(amd) || uid(GPU-c))"), "1 2");
  EXPECT_EQ(selected("!(vendor(amd)||kind(cpu))"), "0 2");
}

TEST(Selection, OrderAndSubscripts) {
  EXPECT_EQ(selected("uid(GPU-c),uid(GPU-a)"), "2 0");
  EXPECT_EQ(selected("vendor(amd),*"), "1 0 2 3");
  EXPECT_EQ(selected("kind(gpu)[:2]"), "0 1");
  EXPECT_EQ(selected("kind(gpu)[1:]"), "1 2");
  EXPECT_EQ(selected("kind(gpu)[1]"), "1");
  EXPECT_EQ(selected("(kind(gpu)&&vendor(nvidia))[1:1],*"), "2 0 1 3");
  EXPECT_EQ(selected("*[2:5]"), "2 3");
  EXPECT_EQ(selected("*[7]"), "");
  EXPECT_EQ(selected("*[:0]"), "");
}

TEST(Selection, Mistakes) {
  EXPECT_EQ(selected("gpu"), "! gpu");
  EXPECT_EQ(selected("kind(gpus)"), "! gpus)");
  EXPECT_EQ(selected("kind()"), "! )");
  EXPECT_EQ(selected("kind(gpu"), "! ");
  EXPECT_EQ(selected("kind(gpu),"), "! ");
  EXPECT_EQ(selected("kind(gpu)&&"), "! ");
  EXPECT_EQ(selected("kind(gpu)&&kind(cpu)||vendor(amd)"), "! ||vendor(amd)");
  EXPECT_EQ(selected("*[]"), "! ]");
  EXPECT_EQ(selected("*[1"), "! ");
  EXPECT_EQ(selected("0"), "! 0");
  EXPECT_EQ(selected("*[99999999999999999999]")[0], '!');
  EXPECT_EQ(selected(std::string(100000, '!').c_str())[0], '!');
  EXPECT_EQ(selected(std::string(100000, '(').c_str())[0], '!');
}

TEST(Selection, DefaultDevice) {
  EXPECT_EQ(chosen("2"), "2");
  EXPECT_EQ(chosen("17"), "17");  // alone: the construct itself reports that there is no such device
  EXPECT_EQ(chosen("17,kind(cpu)"), "3");
  EXPECT_EQ(chosen("vendor(intel)&&kind(gpu),initial"), "-1");
  EXPECT_EQ(chosen("vendor(intel)&&kind(gpu), Invalid"), "-2");
  EXPECT_EQ(chosen("vendor(intel)&&kind(gpu)"), "-2");
  EXPECT_EQ(chosen("kind(gpu)[2],initial"), "2");
  EXPECT_EQ(chosen("kind(gpu)[3],0"), "0");
  EXPECT_EQ(chosen("-1"), "! -1");
  EXPECT_EQ(chosen("1,"), "! ");
  EXPECT_EQ(chosen("first"), "! first");
  EXPECT_EQ(chosen("initials"), "! initials");
}

TEST(Selection, ManyDevices) {
  static DeviceFacts many[kMostDevices];
  int list[kMostDevices], count;
  EXPECT_EQ(select_devices("*", many, kMostDevices, list, count), nullptr);
  EXPECT_EQ(count, kMostDevices);
  EXPECT_EQ(select_devices("!kind(gpu)", many, 0, list, count), nullptr);
  EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace marline::offload
