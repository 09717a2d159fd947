// SPDX-License-Identifier: Apache-2.0
//
// The records of deferred target constructs that are sent ahead, which are under the lock of submitted_tasks.cpp, and
// how that one, submit.cpp, which hands them to their device, and graph_iterations.cpp, which hands over iterations of
// persistent graphs, use each other.
#pragma once

#include "base/lock.hpp"
#include "base/report.hpp"
#include "cluster/base/list.hpp"
#include "device/contract/capture.hpp"
#include "device/contract/pending_constructs.hpp"
#include "image/images.hpp"
#include "data/plan.hpp"

#include <cstdlib>
#include <new>

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;
using namespace image;

// What a data construct does, or a region that brings data, or at whose end data goes home.
struct Ending {
  Plan plan;
  bool has_begun = false;    // of a region: its end
  uint32_t copies_left = 0;  // likewise, of its end
};

// A task that has been claimed, from its creation to its end: `ended` of the operation is that of the kernel, or of the
// copies of a data construct.
struct Ahead : Operation {
  enum class State : uint8_t { kWaiting, kQueued, kHanded, kLeft };
  CapturedTask* task = nullptr;
  Device* device = nullptr;
  State state = State::kWaiting;
  bool is_ready = false, has_ended = false;
  bool is_awaited = false;         // by a task that is not claimed, or a thread
  bool is_told = false;            // the device knows that, or hears it before anything else
  bool seeks_kernel = false;       // the device is asked where it has the kernel
  bool in_parts = false;           // its copies are made so
  bool is_in_turn = false;         // handed over by graph_iterations.cpp
  bool is_of_iteration = false;    // and given to the device as a part of its graph's iteration
  bool is_iteration = false;       // it stands for all regions of one; its items are what these use
  bool changes = false;            // then: their arguments may be others than in the one before
  bool has_others_behind = false;  // as in Launch; then
  bool looks_later = false;        // it copies to the device what claimed tasks before it may change still
  uint32_t missing = 1;  // claimed tasks that must be handed over first; 1 each for all others, the kernel, the creator
  Array<uint64_t, 1> predecessors;  // claimed ones, by their numbers
  Array<Ahead*, 1> dependents;      // which count this one among `missing`
  List<uint64_t> copies;            // private ones, on the device
  Ahead* next = nullptr;            // of a queue
  uint64_t key = 0;                 // the task's number
  uint64_t met_in = 0;              // the last search for a task's predecessors that has met it
  uint64_t created = 0;             // its number in AheadWaits
  Ahead* chained = nullptr;
  Ending* ending = nullptr;
  struct ToldCopies* told_copies = nullptr;  // tool_events.hpp
  Aside* shown = nullptr;                    // while it is the device's; what waits here needs none
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

// Hands the task, whose turn it is, to its device, behind these operations. False: it is to be left to the runtime, and
// nothing has been done. By one thread at a time, without the lock.
[[nodiscard]] bool launch(Ahead* one, List<uint64_t>& behind);

// Whether the device may leave out the task, which has been handed over. Under the lock, or by the thread that hands
// over.
[[nodiscard]] bool may_be_cancelled(const Ahead& one);

// Whether the task, whose turn it is, comes behind that one, directly or not, or that one has ended.
[[nodiscard]] bool comes_behind(const Ahead* one, uint64_t task);

// The operation on the device of a task that has been handed over. False: the task has ended.
[[nodiscard]] bool find_operation(uint64_t task, uint64_t& operation);

// The lock over all records; and under it, what graph_iterations.cpp asks for.
[[nodiscard]] Lock& ahead_lock();
[[nodiscard]] Ahead* find_claimed(uint64_t task);
// Of a task that the device takes: it can be found from then on.
void add_claimed(Ahead* one, uint64_t number);
void remove_claimed(Ahead* one);
// One of those that the task waits for has come.
void count_down(Ahead* one);
// kernel_lookup.cpp. False: the device does not have the task's kernel. `fresh`: it is to be asked, without the lock.
[[nodiscard]] bool wait_for_kernel(Ahead* one, SoughtKernel*& fresh);
// Whether what comes behind the task may be handed over.
[[nodiscard]] bool lets_others_go(const Ahead* one);

// Of tasks whose ends are wanted on the host (awaited_ends.cpp). The first two under the lock, the last one without it.
void note_to_tell(Ahead* one, List<uint64_t>& tell);
void note_awaited(const uint64_t* numbers, size_t count, List<uint64_t>& tell);
void tell_awaited(Device* device, const List<uint64_t>& numbers);

// order_check.cpp. Before the task is launched, if the device checks programs. Without the lock.
void check_order(const Ahead* one, const struct Sent& sent);

// All whose turn it is, as far as the device has room. Without the lock.
void hand_over();

// Hands a task over at once that waits for nothing, whatever is queued. False: it is left to the runtime. Without the
// lock.
[[nodiscard]] bool hand_over_now(Ahead* one, List<uint64_t>& behind);

// As CaptureSink has it.
void ready(void* taken);

// Iterations of persistent graphs, as CaptureSink has them, and a thread's waits.
void iterates(uint64_t graph, bool is_behind);
void iterated(uint64_t graph);
void graph_ends(uint64_t graph);
[[nodiscard]] bool repeats(uint64_t graph, marline_claimed_t* all, uint64_t number);
[[nodiscard]] bool renews(uint64_t graph, marline_claimed_t* all, uint64_t number);
[[nodiscard]] bool again(const marline_target_task_t& task);
void waits(marline_wait_kind_t kind);
// A region of an iteration that is as the one before, behind these claimed tasks alone. True: it has been handed over,
// or left to the runtime. False: it is handed over as any other. By the producer's thread.
[[nodiscard]] bool give_in_turn(Ahead* one, const uint64_t* numbers, size_t count);
// In a fork's child.
void forget_graphs();

// So many constructs more or less have copies under way that are made in parts: the hook is to make these.
void count_in_parts(int constructs);

// The device's address of the kernel; 0: it is not known.
[[nodiscard]] inline uint64_t where(const Entry* kernel, const Device* device) {
  return kernel->code.get(device->number);
}

}  // namespace marline::offload::submission
