// SPDX-License-Identifier: Apache-2.0
//
// What a device is to the rooms above it: memory with addresses of its own, copies, and kernels that run. Nothing above
// knows how a device does that.
//
// Conventions. All functions may be called from any thread. Those that say "may suspend" suspend the calling task where
// a task can be suspended, and otherwise block the thread; the caller holds no lock. An address of the device is valid
// in its kernels; the host must not use it.
#pragma once

#include "base/facts.hpp"
#include "marline/devices.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::offload {
struct Told;
namespace cluster {
struct ChangedWord;
}
namespace data {
class Mapping;
}
namespace image {
struct Entry;
struct Module;
}  // namespace image
}  // namespace marline::offload

namespace marline::offload::device {

using cluster::ChangedWord;
using data::Mapping;
using image::Entry;
using image::Module;
struct Device;

// An operation that goes on behind the call that starts it. The storage is the caller's until `ended` is called.
struct Operation {
  // By the thread that finds it ended, perhaps in a progress hook: it must not block. False: call it again later.
  bool (*ended)(Operation*);
  uint64_t result;              // set before that, where an operation has one
  bool timed = false;           // a kernel, whose times somebody wants to know; by the caller
  bool has_poller = false;      // a thread waits for it and lets the device progress: nobody else need be told of it
  uint64_t begin = 0, end = 0;  // when the device has run it (tell.hpp, now)
  const Device* by = nullptr;   // of a cluster: the member that has run it, if its times are known
  uint64_t number = 0;  // of a kernel on a device that takes them ahead: what Launch::behind names it by; by `launch`
};

// What a region asks of a GPU besides teams and threads: it passes through to libomptarget.
struct GpuGrid {
  uint64_t flags = 0;                       // without nowait
  uint32_t dynamic_memory = 0;              // bytes for each team, ompx_dyn_cgroup_mem
  uint32_t teams[2] = {}, threads[2] = {};  // of the second and third dimension

  bool operator==(const GpuGrid&) const = default;
};

// Memory of the device that a kernel may use.
struct Span {
  uint64_t address, bytes;     // 0 bytes: all of the allocation in which the address lies, if it is the device's at all
  bool is_written = true;      // the kernel may write it
  bool has_pointers = true;    // and may follow pointers that lie there
  const void* host = nullptr;  // what lies there is mapped from; null: nothing
};

// Where a kernel writes, as the depend clauses of its task name it.
struct NamedSpans {
  bool are_known = false;  // else it may write all that it uses
  const Span* spans = nullptr;
  uint32_t count = 0;
};

// An argument that points into a variable of a task reduction. `address`: of what stands for the kernels' copies, which
// has the reduction's initial value and an allocation of its own; the kernel gets a copy that no other one has
// meanwhile.
struct ReducedArgument {
  uint32_t word;  // among the arguments
  uint64_t address;
};

// A kernel with its arguments, one word each, as the host's calling convention passes them.
struct Launch {
  const Entry* kernel;
  uint64_t code;  // where the device has it
  const uint64_t* arguments;
  uint32_t count;
  int32_t thread_limit;  // 0: none
  const char* place;     // the ident's text, ";file;function;line;column;;", or null; static storage
  Told* told = nullptr;  // the construct, if a tool listens
  unsigned teams = 0;    // that the program asks for; for tools
  // For GPUs: whether the first argument is a null pointer that Clang's convention asks for (arguments of version 3),
  // the teams as passed, how often the region's loop runs, and the rest.
  bool leading_null = false;
  int32_t passed_teams = -1;
  uint64_t trip_count = 0;
  GpuGrid grid = {};
  // For devices that ask for them (Device::asks_for_spans): all memory that the construct names.
  bool in_memory = false;  // the arguments are words of an array, whose address is the kernel's one argument
  const Span* spans = nullptr;
  uint32_t span_count = 0;
  // For a cluster: the node that runs it, from 1 on, and the number that the region knows its device by. 0, -1: any
  // node, and the cluster's own.
  int node = 0;
  int number = -1;
  // Kernels behind which it runs (Operation::number), which may have ended; for devices that take kernels ahead.
  const uint64_t* behind = nullptr;
  uint32_t behind_count = 0;
  NamedSpans named = {};  // for devices that ask (device/contract/named.hpp)
  uint32_t patches = 0;   // so many are behind the arguments (own_words.hpp), for devices that ask for spans
  // Not 0: it is the next kernel of the open iteration of this graph (AheadKind). `behind` names what it stands behind
  // there and in the iteration before, also if that has ended; and others, of which some may not have.
  uint64_t graph = 0;
  bool has_others_behind = false;
  // Of kernels that are given ahead: that this is one, which need not start before AheadKind::waits; whether somebody
  // waits for its end; and the task's.
  bool is_ahead = false;
  bool is_awaited = true;
  bool is_deferred = false;  // its construct has `nowait`; else the thread waits for it, if it is not given ahead
  int32_t priority = 0;
  const ReducedArgument* reduced = nullptr;  // for devices that take kernels ahead
  uint32_t reduced_count = 0;
};

struct AheadCopy {
  uint64_t device;
  void* host;
  size_t bytes;
  bool is_to_device;
  marline_operation_t* told = nullptr;  // gets the times when it is made; null: nobody listens
  bool fills = false;  // nobody else uses this memory yet, nor what lies between two of one construct in one allocation
};

// Copies behind kernels and other copies, as in Launch.
struct AheadCopies {
  const AheadCopy* copies;
  uint32_t count;
  const uint64_t* behind;
  uint32_t behind_count;
  bool in_parts = false;  // by AheadKind::copy_part, not by a thread that has something else to do; with an operation
};

// What a kind of devices does that takes kernels before those that they stand behind have ended
// (submission/queue/submitted_tasks.cpp).
struct AheadKind {
  // The kernel need not run, if it has not started. It may have ended.
  void (*cancel)(Device*, uint64_t number);
  // Copies that are made together when those that they stand behind have ended; returns the number by which others name
  // them. Null: nobody wants to know of their end. The host's memory stays until then.
  uint64_t (*start_copies)(Device*, const AheadCopies&, Operation*);
  // Finds where the device has the kernel, whose module is loaded, and writes it into Entry::code unless it has none.
  // The operation ends when that is done, perhaps in this call; nobody counts it.
  void (*start_find)(Device*, Entry* kernel, Operation*);
  // Makes a part of a copy that is to be made so and that can be made now: some 100 microseconds. False: there is none.
  bool (*copy_part)(Device*);
  // Whether so many bytes may be allocated for a construct before those that it stands behind have freed theirs: others
  // must have room still.
  bool (*has_room)(Device*, size_t bytes);
  // An iteration of a persistent graph begins. Its kernels come one by one by `launch`, each where it was in the
  // iteration before, and stand behind the same kernels there; they may be others all the same. They may wait to be
  // started until the end is called. `is_behind`: all that was launched before has ended. Whether repeat_iteration
  // would do it now.
  bool (*begin_iteration)(Device*, uint64_t graph, bool is_behind);
  // Of an iteration that has begun and got no kernel yet: all are as they were in the one before, as are their
  // arguments. They end together, with the operation. `changes`: their arguments may be others; they come by
  // repeat_kernel before the end is called. False: the device needs them by `launch`.
  bool (*repeat_iteration)(Device*, uint64_t graph, bool changes, Operation*);
  // The next one, with these arguments, which are counted without the leading null. False: neither it nor what comes
  // behind it is repeated; those before it are.
  bool (*repeat_kernel)(Device*, uint64_t graph, bool leading_null, const ChangedWord* changed, size_t count);
  void (*end_iteration)(Device*, uint64_t graph);
  // There is no other one; or the next one is as the first.
  void (*end_graph)(Device*, uint64_t graph);
  // The program waits for all that the device has been given, perhaps for the end of each (`singly`).
  void (*waits)(Device*, bool singly);
  // The end of this kernel, which may have ended, is awaited, though it was launched as one that is not. Short, calls
  // nothing of the runtime's.
  void (*await)(Device*, uint64_t number);
  // Combines all copies that kernels have had of what lies at the address (ReducedArgument), which are gone then, into
  // `to`. All these kernels have ended. False: there are none. May suspend.
  bool (*reduce)(Device*, uint64_t address, size_t bytes, void (*combine)(void* into, void* from), void* to);
  // Whether `unordered` is to hear of such constructs. By the thread that hands over.
  bool (*checks_order)(Device*);
  void (*unordered)(const struct UnorderedPair&);
};

struct DeviceKind {
  const char* name;
  bool is_asynchronous;  // `launch` may return before the kernel has run

  // What the kind's device of that index is; it need not be started. `uid` is not empty, and never that of another
  // device.
  void (*describe)(int index, DeviceFacts&);

  // Once, before anything else but that. Ends the program if the device cannot be started.
  void (*start)(Device*);

  // Memory with an alignment of 64, or 0 if there is not that much. Never 0 bytes.
  uint64_t (*allocate)(Device*, size_t bytes);
  void (*release)(Device*, uint64_t address);

  // Copies; done at the return. May suspend.
  void (*write)(Device*, uint64_t to, const void* from, size_t bytes);
  void (*read)(Device*, void* to, uint64_t from, size_t bytes);

  // Loads a copy of the module's image for this device, and returns its handle. 0: it has none, or is gone. May
  // suspend.
  uint64_t (*load)(Device*, Module*);

  // The copy goes. May suspend.
  void (*unload)(Device*, uint64_t handle);

  // The address of a variable or function in a copy; 0: not there. May suspend.
  uint64_t (*find)(Device*, uint64_t handle, const char* name);

  // Where the device has a function of the program itself (0 bytes), or a variable; 0: it does not have it. May
  // suspend.
  uint64_t (*locate)(Device*, const void* address, size_t bytes);

  // Copies between two devices whose kinds have this same function, by a way of their own; done at the return. False:
  // there is none, and the caller copies by way of the host. Null: never. May suspend.
  bool (*copy)(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes);

  // Starts a kernel, which is found. Either returns true, and it has run; or returns false, and operation->ended is
  // called when it has. May suspend in the first case.
  bool (*launch)(Device*, const Launch&, Operation*);

  // For a thread that cannot suspend, and waits: lets operations end, or blocks for a moment.
  void (*progress)(Device*);

  // The program ends.
  void (*stop)(Device*);

  const AheadKind* ahead = nullptr;  // null: kernels are launched when they can run

  // Copies between host and device, all of them in one direction; done at the return. May suspend. Null: `write` and
  // `read` are as good.
  void (*copy_all)(Device*, const AheadCopy*, uint32_t count) = nullptr;
};

// One device of the program. Constant after its start but for what says otherwise.
struct Device {
  const DeviceKind* kind;
  int number;        // as the program counts
  int index;         // among those of its kind, also of those that are not selected (registry/registry.hpp)
  Mapping* mapping;  // its data environment (data/data_environment.hpp); has a lock of its own
  void* state;       // the kind's own
  std::atomic<bool> started{false};  // written under the registry's lock
  std::atomic<uint32_t> modules{0};  // changes of modules that it knows; written by the threads that have followed them
  bool asks_to_copy = false;         // copies wait for an answer, so a progress hook must not make them; by its start
  bool asks_for_spans = false;       // Launch::spans; likewise
  bool shares_storage = false;       // small pieces had better share an allocation (data/storage.cpp); likewise
  // DeviceKind::ahead is to be used. By its start; it may find later that it had better not be, for kernels behind
  // others.
  std::atomic<bool> takes_ahead{false};
  int most_ahead = 0;  // of kernels that it is given, and that have not run, at a time; by its start
  bool holds_back =
      false;  // kernels, until it hears that the program waits (AheadKind::waits), or for a moment; likewise
  bool holds_for_waits = false;  // until it hears so; likewise
  // The program has got an address, or a pointer of the device has one, that lies outside of the memory it belongs to,
  // as that of a section's array. Written by any thread, before a kernel can have it.
  std::atomic<bool> has_far_pointers{false};
  Device* const* members = nullptr;  // of a cluster: the devices that it consists of; by the list of devices
  int member_count = 0;
  bool is_told = false;  // a tool has heard of it; under the lock under which devices are started
  // Of such a member: the cluster, whose data environment it has, and which node of it this is, from 1 on. Its own
  // `mapping` is not used.
  Device* cluster = nullptr;
  int node = 0;
  bool lost = false;  // in a fork's child, of a device that belongs to the program; written by its first thread
};

}  // namespace marline::offload::device
