// SPDX-License-Identifier: Apache-2.0
//
// The records of deferred target regions that are sent ahead. Only for ahead.cpp, under whose lock they are.
#pragma once

#include "base/report.hpp"
#include "cluster/core/base/list.hpp"
#include "device/base/capture.hpp"
#include "device/llvm/asides.hpp"
#include "mapping/plan.hpp"

#include <cstdlib>
#include <new>

namespace marline::target {

// The end of a region whose data goes home with it.
struct Ending {
  Plan plan;
  uint32_t copies_left = 0;
};

// A task that has been claimed, from its creation to its end: `ended` of the operation is the kernel's.
struct Ahead : Operation {
  enum class State : uint8_t { kWaiting, kQueued, kHanded, kLeft };
  CapturedTask* task = nullptr;
  Device* device = nullptr;
  State state = State::kWaiting;
  bool is_ready = false, has_ended = false;
  bool seeks_kernel = false;  // the device is asked where it has the kernel
  uint32_t missing = 1;  // claimed tasks that must be handed over first; 1 each for all others, the kernel, the creator
  List<uint64_t> predecessors;  // claimed ones, by their numbers
  List<Ahead*> dependents;      // which count this one among `missing`
  List<uint64_t> copies;        // private ones, on the device
  Ahead* next = nullptr;        // of a queue
  uint64_t key = 0;             // the task's number
  Ahead* chained = nullptr;
  Ending* ending = nullptr;
  Aside shown;  // while it is the device's
};

// Where a device has a kernel, which it is being asked, and the tasks that wait for that. One that it does not have
// stays, and its tasks are not claimed. In one list: as many as kernels that are sought at a time, and those.
struct SoughtKernel : Operation {
  const Entry* kernel = nullptr;
  Device* device = nullptr;
  bool is_missing = false;
  List<Ahead*> waiting;
  SoughtKernel* next = nullptr;
};

// First in, first out.
struct Queue {
  Ahead* first = nullptr;
  Ahead* last = nullptr;

  void push(Ahead* one) {
    one->next = nullptr;
    (first == nullptr ? first : last->next) = one;
    last = one;
  }
  Ahead* pop() {
    Ahead* one = first;
    if (one != nullptr) first = one->next;
    return one;
  }
};

template <class T>
T* make() {
  void* memory = std::malloc(sizeof(T));
  if (memory == nullptr) fatal("no memory for a deferred target region");
  return new (memory) T{};
}

template <class T>
void destroy(T* one) {
  one->~T();
  std::free(one);
}

}  // namespace marline::target
