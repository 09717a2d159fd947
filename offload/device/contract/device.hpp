// SPDX-License-Identifier: Apache-2.0
//
// The interface of a device to the layers above it: memory with addresses of its own, copies, and kernels that run.
// Nothing above knows how a device does that.
//
// Conventions. All functions may be called from any thread. A function that "may suspend" suspends the calling task
// where a task can be suspended, and otherwise blocks the thread; its caller holds no lock. An address of the device is
// valid in its kernels; the host must not use it.
#pragma once

#include "base/facts.hpp"
#include "device/contract/kernel_invocation.hpp"
#include "marline/devices.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace marline::offload {
struct ReportedConstruct;
namespace cluster {
struct ChangedWord;
}
namespace data {
class DataEnvironment;
}
namespace image {
struct Entry;
struct Module;
}  // namespace image
}  // namespace marline::offload

namespace marline::offload::device {

using cluster::ChangedWord;
using data::DataEnvironment;
using image::Entry;
using image::Module;
struct Device;

// An operation that continues after the call that starts it has returned. The caller owns the storage until `ended` is
// called.
struct Operation {
  // Called by the thread that finds that the operation has ended, perhaps in a progress hook, so it must not block.
  // False: it must be called again later.
  bool (*ended)(Operation*);
  uint64_t result;              // set before `ended` is called, if the operation has a result
  bool timed = false;           // the operation is a kernel whose times are wanted; set by the caller
  bool has_poller = false;      // a thread polls for this operation; do not wake another
  uint64_t begin = 0, end = 0;  // when the device ran the operation (base/now.hpp)
  const Device* by = nullptr;   // of a cluster: the member that ran the operation, if its times are known
  // The number of a kernel on a device that accepts early submission, by which Launch::after names the kernel. Set by
  // `launch`.
  uint64_t number = 0;
};

// Memory of the device that a kernel may use.
struct Span {
  uint64_t address, bytes;     // 0 bytes: the whole allocation with this address, if the device has such an allocation
  bool is_written = true;      // the kernel may write it
  bool has_pointers = true;    // the kernel may follow pointers that are stored here
  const void* host = nullptr;  // the host memory that is mapped here; null: none
};

// What a kernel writes according to the depend clauses of its task.
struct NamedSpans {
  bool are_known = false;  // false: the kernel may write all memory that it uses
  const Span* spans = nullptr;
  uint32_t count = 0;
};

// An argument that points into a variable of a task reduction. `address` is in an allocation that represents the copies
// of all kernels and has the reduction's initial value. The kernel gets a copy of it that no other kernel uses at the
// same time.
struct ReducedArgument {
  uint32_t word;  // the index of the argument
  uint64_t address;
};

// A kernel and its arguments, one word each, as the host's calling convention passes them.
struct Launch : PlacedInvocation {
  uint64_t code = 0;  // the kernel's address on the device
  const uint64_t* arguments = nullptr;
  uint32_t count = 0;
  ReportedConstruct* reported = nullptr;  // the construct, if a tool listens
  unsigned teams = 0;                     // the number of teams that the program asks for; for tools
  // For devices that ask for it (Device::asks_for_spans): all memory that the construct names.
  const Span* spans = nullptr;
  uint32_t span_count = 0;
  // For devices that accept early submission: the predecessors of the kernel (Operation::number). They may have ended.
  const uint64_t* after = nullptr;
  uint32_t predecessor_count = 0;
  NamedSpans named = {};  // for devices that ask for it (device/contract/named.hpp)
  // The number of patches that follow the arguments (own_words.hpp); for devices that ask for spans.
  uint32_t patches = 0;
  // Not 0: the kernel is the next one of the open iteration of this persistent graph (EarlySubmission). `after` then
  // names all its predecessors in this iteration and in the one before, even if they have ended. With
  // `has_other_predecessors` it also names predecessors outside of these iterations, of which some may not have ended.
  uint64_t graph = 0;
  bool has_other_predecessors = false;
  // For early submission. is_submitted_early: the kernel is submitted early, and need not start before
  // EarlySubmission::waits. is_awaited: a thread or a task waits for its end. priority: that of its task.
  bool is_submitted_early = false;
  bool is_awaited = true;
  // Its construct has `nowait`; otherwise the thread waits for it, unless it is submitted early.
  bool is_deferred = false;
  int32_t priority = 0;
  const ReducedArgument* reduced = nullptr;  // for devices that accept early submission
  uint32_t reduced_count = 0;
};

struct DeviceCopy {
  uint64_t device;
  void* host;
  size_t bytes;
  bool is_to_device;
  // Gets the times when the copy is made. Null: no tool listens.
  marline_operation_t* reported = nullptr;
  // No other construct uses this memory yet, nor the bytes between two copies of one construct in the same allocation.
  bool fills = false;
};

// Copies with predecessors, which are kernels and other copies, as in Launch.
struct OrderedCopies {
  const DeviceCopy* copies;
  uint32_t count;
  const uint64_t* after;
  uint32_t predecessor_count;
  // EarlySubmission::copy_part makes the copies, so that no thread with other work has to; start_copies then gets an
  // operation.
  bool in_parts = false;
};

// What a kind of devices does that accepts early submission: it gets kernels before their predecessors have ended
// (submission/queue/submission.cpp).
struct EarlySubmission {
  // The kernel need not run, if it has not started. It may have ended.
  void (*cancel)(Device*, uint64_t number);
  // Submits copies, which are made together when their predecessors have ended. Returns the number by which successors
  // name them. A null operation: no caller waits for their end. The host's memory must stay valid until they have
  // ended.
  uint64_t (*start_copies)(Device*, const OrderedCopies&, Operation*);
  // Finds the address of the kernel on the device and writes it into Entry::code, unless one is there already. The
  // kernel's module is loaded. The operation ends when that is done, perhaps in this call. No counter includes this
  // operation.
  void (*start_find)(Device*, Entry* kernel, Operation*);
  // Makes a part of a copy with OrderedCopies::in_parts that can start now, which takes some 100 microseconds. False:
  // there is no such copy.
  bool (*copy_part)(Device*);
  // Whether this many bytes may be allocated for a construct before its predecessors have freed theirs. Other
  // constructs must still have room.
  bool (*has_room)(Device*, size_t bytes);
  // Begins an iteration of a persistent graph. Its kernels then come one by one by `launch`, in the order of the
  // iteration before and with the same predecessors there; a kernel may still be another one than before. The device
  // may delay their start until end_iteration is called. `has_barrier`: all that was launched before has ended. Returns
  // whether repeat_iteration would replay the iteration now.
  bool (*begin_iteration)(Device*, uint64_t graph, bool has_barrier);
  // Replays an iteration that has begun and has no kernel yet: all its kernels are as in the iteration before. They end
  // together, with the operation. Without `changes` their arguments are the same, too. With it the arguments may differ
  // and come by repeat_kernel, before end_iteration is called. False: the device needs the kernels by `launch`.
  bool (*repeat_iteration)(Device*, uint64_t graph, bool changes, Operation*);
  // Replays the next kernel with these changed arguments, which are counted without the leading null pointer. False:
  // this kernel and the later ones of the iteration are not replayed; the kernels before it are.
  bool (*repeat_kernel)(Device*, uint64_t graph, bool leading_null, const ChangedWord* changed, size_t count);
  void (*end_iteration)(Device*, uint64_t graph);
  // The graph has no further iteration, or the next one is treated as the first.
  void (*end_graph)(Device*, uint64_t graph);
  // The program waits for all that was submitted to the device; `singly`: perhaps for the end of each task by itself.
  void (*waits)(Device*, bool singly);
  // The end of this kernel is awaited, though it was launched with is_awaited false. The kernel may have ended. The
  // call is short and calls no function of the runtime.
  void (*await)(Device*, uint64_t number);
  // Combines all copies that kernels had of the variable at the address (ReducedArgument) into `to`, and frees the
  // copies. All these kernels have ended. False: there are no copies. May suspend.
  bool (*reduce)(Device*, uint64_t address, size_t bytes, void (*combine)(void* into, void* from), void* to);
  // Whether `unordered` must be called for two constructs without an order. Called by the thread that submits.
  bool (*checks_order)(Device*);
  void (*unordered)(const struct UnorderedPair&);
};

// What a kind's devices are in the job that the program belongs to.
enum class JobPart : uint8_t {
  kNone,       // not in the job: they are in the program's process, or have processes of their own
  kProcessor,  // the processor of one worker
  kGpu,        // a GPU of one worker
  kCluster,    // all processors or GPUs of the workers
};

// What the layers above a device ask about its kind.
struct DeviceTraits {
  const char* name;
  bool is_asynchronous = false;  // `launch` may return before the kernel has run
  bool shares_memory = false;    // kernels run in the program's process and can use its memory
  // The device is a fork of the program, made before main if possible. It has the code that was loaded then.
  bool is_forked = false;
  JobPart job_part = JobPart::kNone;
  // Another OpenMP runtime keeps the memory and the data environment of the devices. Null: Device::mapping is used.
  const struct Delegate* delegate = nullptr;
};

struct DeviceKind : DeviceTraits {
  // Describes the kind's device of that index, which need not be started. `uid` is not empty, and differs from that of
  // every other device.
  void (*describe)(int index, DeviceFacts&);

  // Called once, before any other function but `describe`. Ends the program if the device cannot be started.
  void (*start)(Device*);

  // Allocates memory with an alignment of 64. Returns 0 if there is not enough. `bytes` is never 0.
  uint64_t (*allocate)(Device*, size_t bytes);
  void (*release)(Device*, uint64_t address);

  // Copy bytes from the host to the device, and back. The copy is complete when the call returns. May suspend.
  void (*write)(Device*, uint64_t to, const void* from, size_t bytes);
  void (*read)(Device*, void* to, uint64_t from, size_t bytes);

  // Loads the module's image for this device into the device, and returns a handle for the loaded image. 0: the module
  // has no image for this device, or is unloaded. May suspend.
  uint64_t (*load)(Device*, Module*);

  // Unloads the image that `load` has loaded. May suspend.
  void (*unload)(Device*, uint64_t handle);

  // The device's address of a variable or function in a loaded image; 0: the image does not have it. May suspend.
  uint64_t (*find)(Device*, uint64_t handle, const char* name);

  // The device's address of a function of the program itself (0 bytes), or of a variable; 0: the device does not have
  // it. May suspend.
  uint64_t (*locate)(Device*, const void* address, size_t bytes);

  // Copies directly between two devices whose kinds have this same function; the copy is complete when the call
  // returns. False: there is no direct way, and the caller copies through the host. Null: there never is one. May
  // suspend.
  bool (*copy)(Device* to_device, uint64_t to, Device* from_device, uint64_t from, size_t bytes);

  // Starts a kernel, whose address on the device is known. True: the kernel has run. False: operation->ended is called
  // when it has run. May suspend only if it returns true.
  bool (*launch)(Device*, const Launch&, Operation*);

  // Called by a thread that waits and cannot suspend: completes operations that have ended, or blocks for a moment.
  void (*progress)(Device*);

  // Called when the program ends.
  void (*stop)(Device*);

  const EarlySubmission* early = nullptr;  // null: kernels are launched when they can run

  // Copies between host and device, all in one direction, which are complete when the call returns. May suspend. Null:
  // `write` and `read` are as good.
  void (*copy_all)(Device*, const DeviceCopy*, uint32_t count) = nullptr;
};

// One device of the program. Constant after its start, unless a member says otherwise.
struct Device {
  const DeviceKind* kind;
  int number;  // the program's number of the device
  int index;   // among the devices of its kind, also devices that are not selected (registry/registry.hpp)
  DataEnvironment* mapping;          // its data environment (data/data_environment.hpp); has a lock of its own
  void* state;                       // belongs to the kind
  std::atomic<bool> started{false};  // written under the registry's lock
  // How many changes of the set of modules the device has applied. Written by the threads that applied them.
  std::atomic<uint32_t> modules{0};
  // A copy waits for an answer, so a progress hook must not make copies. Set when the device starts.
  bool asks_to_copy = false;
  bool asks_for_spans = false;  // the device needs Launch::spans; set when the device starts
  // Small map entries share an allocation if possible (data/storage.cpp). Set when the device starts.
  bool shares_storage = false;
  // The device accepts early submission (DeviceKind::early). Set when the device starts. The device may clear it later,
  // and then takes ready kernels only.
  std::atomic<bool> takes_early{false};
  // How many kernels that have not run the device gets at a time. Set when the device starts.
  int most_submitted = 0;
  // The device holds kernels back until it hears that the program waits (EarlySubmission::waits), or for a moment. Set
  // when the device starts.
  bool holds_back = false;
  // The device holds kernels back until it hears that the program waits. Set when the device starts.
  bool holds_for_waits = false;
  // The program has an address, or the device has a pointer, that lies outside of the memory it belongs to, such as the
  // base address of an array section. Written by any thread, before a kernel can use that address.
  std::atomic<bool> has_far_pointers{false};
  // Of a cluster: the devices that it consists of. Set by the list of devices.
  Device* const* members = nullptr;
  int member_count = 0;
  // A tool has been notified of this device. Under the lock that devices are started under.
  bool is_reported = false;
  // Of a member of a cluster: the cluster, whose data environment it uses instead of its own `mapping`, and its node
  // number there, from 1 on.
  Device* cluster = nullptr;
  int node = 0;
  // In the child of a fork: the device belongs to the parent. Written by the child's first thread.
  bool lost = false;
};

}  // namespace marline::offload::device
