// SPDX-License-Identifier: Apache-2.0
// What all entry points of the emulated driver share: the devices, the engine, the memory that the host and the devices
// share, the calling thread's current device, the log and the injected errors. Created by cuInit and never destroyed,
// since libomptarget calls the driver from exit handlers; constant but for the objects' own locks.
#pragma once

#include <memory>
#include <vector>

#include "device.hpp"
#include "engine.hpp"
#include "settings.hpp"

#define EMULATOR_ENTRY extern "C" __attribute__((visibility("default"))) emulator::Result
// The same function under the name that it had before its second version.
#define EMULATOR_ALIAS(NAME) \
  extern "C" __attribute__((visibility("default"), alias(#NAME "_v2"))) decltype(NAME##_v2) NAME

namespace emulator {

struct Driver {
  Driver();

  std::vector<std::unique_ptr<Device>> devices;
  Memory shared;
  Engine engine;

  Device* device(int index) const;
  std::vector<int> memory_files() const;
};

// Null before cuInit.
Driver* driver();
void start_driver();

// The device of the calling thread's current context; null without one.
Device*& current_device();

// Whether this operation is the one that MARLINE_EMULATOR_ERROR names.
bool strikes(Fault fault, const Device& device);

// Writes a line to the log, if there is one, and returns `result`.
Result log_call(const char* name, Result result, const char* format, ...) __attribute__((format(printf, 3, 4)));
inline Result log_call(const char* name, Result result) { return log_call(name, result, "%s", ""); }

// kSuccess, or why the stream's device cannot take an operation.
Result check(Stream* stream);
// The stream itself, or the current device's default stream for null; null if there is no current device.
Stream* stream_or_default(Stream* stream);
// Submits after the checks that all operations share.
Result submit(Stream* stream, decltype(Operation::work) work);

// Where the driver reaches [address, address + size) of a device or of shared memory.
struct Place {
  std::byte* view = nullptr;  // null: not memory in use
  Device* device = nullptr;   // null: shared memory
  const Memory* memory = nullptr;
};
Place find_place(DevicePointer address, std::size_t size);

}  // namespace emulator
