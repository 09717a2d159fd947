// SPDX-License-Identifier: Apache-2.0
// What the driver and a device's process say to each other, over two Unix sockets that keep messages apart.
//
// The control socket carries one request and its answer at a time: load an image, open a peer's memory, map
// memory. The launch
// socket carries kernels to the device and their ends back; each of the device's threads takes one kernel at a time
// from it. A closed socket means that the other process has ended. All numbers are in the machine's own form: both
// processes come from one build.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

// The descriptors that a device's process starts with. Memory files follow: the shared one, then each device's.
constexpr int kControlSocket = 3;
constexpr int kLaunchSocket = 4;
constexpr int kMemoryFiles = 5;

constexpr std::size_t kMaxWords = 512;  // parameters of a kernel: 4 KiB, as on a real device
constexpr std::size_t kMaxSegments = 8;

// A part of an image's data, and the device memory that takes its place.
struct ImageSegment {
  std::uint64_t image_offset;  // from the image's load address
  std::uint64_t size;
  std::uint64_t address;
  std::int32_t protection;
};

struct ControlRequest {
  enum class Kind : std::uint32_t { kLoad, kOpenPeer, kMap } kind;
  std::uint32_t peer;           // kOpenPeer: the device that has the memory
  std::uint64_t address, size;  // kMap: where the file that comes with the message is to be
  std::uint32_t segment_count;  // kLoad; the image's file comes with the message
  ImageSegment segments[kMaxSegments];
};

struct ControlAnswer {
  std::uint64_t load_address;  // 0: failed
  char error[400];
};

struct LaunchHeader {
  std::uint32_t slot;
  std::uint32_t word_count;  // that many words follow
  std::uint64_t function;
};

struct LaunchAnswer {
  enum class End : std::uint32_t { kDone, kIllegalAddress, kFailed } end;
  std::uint32_t slot;
  std::int64_t nanoseconds;
  std::uint64_t address;  // kIllegalAddress: which
};

}  // namespace emulator
