// SPDX-License-Identifier: Apache-2.0
// What the environment says about the emulated devices: one table, read once when the driver is loaded and constant
// from then on, for every thread. A bad value ends the process with one line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emulator {

// An operation that shall fail: the `nth` (from 1) of its kind, on one device or, if `device` is -1, on any.
enum class Fault { kAlloc, kCopy, kLaunch, kIllegal, kLost };
struct InjectedError {
  Fault fault;
  std::uint64_t nth;
  int device;
};

inline constexpr std::uint64_t kAnyCpu = UINT64_MAX;

struct Settings {
  std::uint64_t devices = 1;
  std::uint64_t memory = std::uint64_t{8} << 30;  // bytes per device
  double bandwidth = 0;                           // bytes per second of each copy engine; 0: as fast as the copy is
  double latency = 0;                             // microseconds that each copy, fill and kernel takes in addition
  double kernel_time = -1;                        // microseconds; below 0: the time that the code takes
  std::uint64_t kernels = 8;                      // kernels at the same time on one device
  std::uint64_t threads = 1;                      // of the host, for the parallel regions of a kernel
  bool pageable_waits = false;                    // copies from and to pageable memory return late
  bool peers = true;
  bool addresses = true;                   // cuMemAddressReserve follows a wish
  std::uint64_t cpu = kAnyCpu;             // where the engine's thread runs
  std::vector<int> domains;                // NUMA domain of each device; 0 for devices after the last one
  std::uint64_t model_above = UINT64_MAX;  // copies of more bytes take their time but move nothing
  std::vector<InjectedError> errors;
  std::string log;  // a file name, "-" for standard error, empty for none
};

const Settings& settings();

// Ends the process with a line on standard error: what cannot go on, and what to do.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2)));
// One line on standard error; the process goes on.
void warn(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace emulator
