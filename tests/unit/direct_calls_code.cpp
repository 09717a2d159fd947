// SPDX-License-Identifier: Apache-2.0
//
// Functions for device_direct_calls_test.cpp, which is built with this file twice: CALLS is a struct for calls by stubs
// of the procedure linkage table, and one for calls by the global offset table (-fno-plt). COMBINING: the same for the
// functions that combine values.
#include "direct_calls_code.hpp"

#include <cmath>
#include <unistd.h>

namespace marline::offload::image {

namespace {

[[gnu::noinline]] int by_call() { return static_cast<int>(getppid()) + 1; }
[[gnu::noinline]] int by_jump() { return static_cast<int>(getppid()); }
[[gnu::noinline]] int behind_another() { return by_call() + 1; }
[[gnu::noinline]] int another_name() { return static_cast<int>(getpgrp()) + 1; }
[[gnu::noinline]] int none() { return 7; }

volatile int g_width = 4;
thread_local volatile int t_width = 4;

struct Many {
  double values[100];
};

double& value(void* at) { return *static_cast<double*>(at); }

[[gnu::noinline]] void adds(void* into, void* from) { value(into) += value(from); }
[[gnu::noinline]] void adds_many(void* into, void* from) {
  auto *to = static_cast<Many*>(into), *of = static_cast<Many*>(from);
  for (int i = 0; i < 100; ++i) to->values[i] += of->values[i] * 3.25;
}
[[gnu::noinline]] void calls_another(void* into, void* from) {
  adds(into, from);
  value(into) = value(into) + 1;
}
[[gnu::noinline]] void uses_constants(void* into, void* from) {
  switch (static_cast<int>(value(from))) {
    case 0: value(into) = 1.5; break;
    case 1: value(into) *= 2.5; break;
    case 2: value(into) -= 3.5; break;
    case 3: value(into) /= 4.5; break;
    case 4: value(into) += 5.5; break;
    default: value(into) = -value(into);
  }
}
[[gnu::noinline]] void reads_variable(void* into, void* from) { value(into) += value(from) * g_width; }
[[gnu::noinline]] void writes_static(void* into, void* from) {
  static volatile int calls = 0;
  calls = calls + 1;
  value(into) += value(from);
}
[[gnu::noinline]] void reads_threads(void* into, void* from) { value(into) += value(from) * t_width; }
[[gnu::noinline]] void calls_reader(void* into, void* from) {
  reads_variable(into, from);
  value(into) = value(into) + 1;
}
[[gnu::noinline]] void jumps_to_reader(void* into, void* from) { calls_reader(into, from); }
[[gnu::noinline]] void takes_readers_address(void* into, void* from) {
  void (*volatile reader)(void*, void*) = reads_variable;
  reader(into, from);
}
[[gnu::noinline]] void calls_library(void* into, void* from) { value(into) = std::pow(value(into), value(from)); }

}  // namespace

extern const Calls CALLS;
const Calls CALLS = {by_call, by_jump, behind_another, another_name, none};

extern const Combining COMBINING;
const Combining COMBINING = {adds,          adds_many,     calls_another, uses_constants,  reads_variable,
                             writes_static, reads_threads, calls_reader,  jumps_to_reader, takes_readers_address,
                             calls_library};

}  // namespace marline::offload::image
