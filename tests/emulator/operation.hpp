// SPDX-License-Identifier: Apache-2.0
// What a stream holds: one operation per asynchronous call of the driver. An operation is written by the thread that
// submits it and from then on belongs to the engine's thread; its stream's order is its only order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "cuda.hpp"

namespace emulator {

using Nanoseconds = std::int64_t;
Nanoseconds now();

struct EventState;

struct Copy {
  enum class Way : std::uint8_t { kToDevice, kToHost, kInside, kToPeer } way;
  std::byte* to;
  const std::byte* from;
  std::size_t bytes;
  Device* peer;                         // kToPeer: the device that the copy writes to
  std::unique_ptr<std::byte[]> staged;  // `from` if the source may change before the copy is made
};

// `rows` rows of `columns` elements of `width` bytes, `pitch` bytes apart.
struct Fill {
  std::byte* to;
  std::uint32_t value;
  std::uint32_t width;
  std::size_t columns, rows, pitch;
};

struct Launch {
  const Function* function;
  std::unique_ptr<std::uint64_t[]> words;
  std::uint32_t word_count;
  bool illegal;  // an injected error: the kernel touches a wrong address
};

struct Record {
  std::shared_ptr<EventState> event;
  std::uint64_t number;
};

struct Wait {
  std::shared_ptr<EventState> event;
  std::uint64_t number;
};

// One of the two functions is null.
struct Call {
  HostFunction function;
  StreamCallback callback;
  void* argument;
};

struct Release {
  DevicePointer address;
};

struct Operation {
  Nanoseconds submitted;
  std::variant<Copy, Fill, Launch, Record, Wait, Call, Release> work;
};

}  // namespace emulator
