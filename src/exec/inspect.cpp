// SPDX-License-Identifier: Apache-2.0
//
// What libraries add to `marline ps`.
#include "exec/inspect.hpp"

#include "base/atomic.hpp"

namespace marline {

namespace {

constexpr int kDescriptions = 8;

struct Description {
  const char* name;
  void* arg;
  Atomic<Describe> describe;  // written last
};

Description g_descriptions[kDescriptions];
Atomic<int> g_description_count{0};

}  // namespace

bool describe_register(const char* name, Describe describe, void* arg) {
  int index = g_description_count.load(relaxed);
  do {
    if (index == kDescriptions) return false;
  } while (!g_description_count.compare_exchange_weak(index, index + 1, relaxed));
  g_descriptions[index].name = name;
  g_descriptions[index].arg = arg;
  g_descriptions[index].describe.store(describe, release);  // pairs with the server's look
  return true;
}

}  // namespace marline
