// SPDX-License-Identifier: Apache-2.0
// The emulator's objects: devices, streams, events, modules. Each field names who may touch it: "lock" is the engine's
// lock, "engine" the engine's thread alone. Objects that a handle names live until the call that destroys them and, if
// an operation still needs them, until that has ended.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "cuda.hpp"
#include "device_process.hpp"
#include "image.hpp"
#include "memory.hpp"
#include "operation.hpp"

namespace emulator {

// A copy engine: it moves one copy at a time.
struct Lane {
  Nanoseconds free_at = 0;  // engine
};

// A place for one running kernel.
struct Slot {
  Stream* stream = nullptr;  // engine
  Nanoseconds begin = 0;     // engine: with the latency
  Nanoseconds end = 0;       // engine: the kernel ends no earlier
  bool ran = false;          // engine: the device's process has run it, or need not
};

struct Stream {
  explicit Stream(Device& owner) : device(owner) {}

  Device& device;
  std::deque<Operation> queue;  // lock; the first one, once begun, is the engine's
  bool active = false;          // lock: the engine knows that the queue is not empty
  // Written with the lock; a query reads them without. A real device is not slower because a thread asks it all the
  // time.
  std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> completed{0};
  int waiters = 0;                // lock: threads that wait for `completed` to rise
  std::condition_variable moved;  // with the lock
  Operation* current = nullptr;   // engine: the first operation, once begun
  Nanoseconds ready_at = 0;       // engine: the end of the last completed operation
  std::uint32_t slot = 0;         // engine: of the running kernel
  Nanoseconds due = 0;            // engine: the running copy ends no earlier
};

struct EventState {
  // As the counts above: how often cuEventRecord was called, and the last of these that the device has come to.
  std::atomic<std::uint64_t> recorded{0};
  std::atomic<std::uint64_t> reached{0};
  Nanoseconds time = 0;           // lock: when
  int waiters = 0;                // lock
  std::condition_variable moved;  // with the lock
  std::vector<Stream*> waiting;   // engine: streams with a first operation that waits for it
};

struct Event {
  std::shared_ptr<EventState> state = std::make_shared<EventState>();
};

struct Device {
  Device(int number, std::size_t memory_size, std::uint32_t slot_count)
      : index(number),
        memory(kDeviceBase + static_cast<std::uint64_t>(number) * kDeviceStride, memory_size,
               Memory::HostAccess::kNone),
        slots(slot_count),
        default_stream(*this) {}

  // The memory with that address; null: it is not the device's.
  Memory* memory_at(DevicePointer address) {
    if (memory.covers(address)) {
      return &memory;
    }
    const std::lock_guard lock(mapped_mutex);
    for (const auto& one : mapped) {
      if (one->covers(address)) {
        return one.get();
      }
    }
    return nullptr;
  }

  const int index;
  Memory memory;
  std::mutex mapped_mutex;  // over the next
  std::vector<std::unique_ptr<Memory>>
      mapped;  // at addresses that the program has chosen (calls_mapped.cpp); they stay
  DeviceProcess process;
  std::atomic<Result> error{kSuccess};  // once set it stays; set by the engine, or by a submitter for a lost device
  std::atomic<std::uint32_t> open_peers{0};
  std::atomic<int> retained{0};
  bool gone = false;            // engine: its process is, or counts as, ended
  Lane to_device, to_host;      // engine
  std::vector<Slot> slots;      // engine
  std::deque<Stream*> waiting;  // engine: streams with a first operation that waits for a slot
  Stream default_stream;
  std::vector<Stream*> streams;  // lock: all but the default one
};

struct Function {
  Device& device;
  std::string name;
  std::uint64_t address;  // in the device's process; 0: nothing to run
  std::vector<std::size_t> parameter_sizes;
};

struct Global {
  DevicePointer address;
  std::size_t size;
};

// A loaded image, or PTX. `mutex` guards the two maps.
struct Module {
  Device& device;
  std::optional<Cubin> cubin;
  std::string ptx;  // without a cubin
  std::optional<HostImage> host;
  std::vector<ImageSegment> segments;
  std::uint64_t load_address = 0;
  std::mutex mutex;
  std::unordered_map<std::string, std::unique_ptr<Function>> functions;
  std::unordered_map<std::string, Global> globals;
};

}  // namespace emulator
