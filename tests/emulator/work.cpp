// SPDX-License-Identifier: Apache-2.0
// What operations do when they begin, how long they take, and how kernels end. Everything here runs on the engine's
// thread without its lock, except where a queue or an event is looked at.
//
// Times: a copy between host and device takes its latency and then bytes / bandwidth of the copy engine of its
// direction; a copy between devices takes both engines, and twice the time without peer access; a copy or a fill
// inside a device runs at ten times the bandwidth; a kernel takes its latency and its time, in one of the device's
// slots.
#include <algorithm>
#include <cstring>

#include "engine.hpp"
#include "settings.hpp"

namespace emulator {
namespace {

constexpr double kInsideFactor = 10;

Nanoseconds transfer_time(std::size_t bytes, double factor) {
  const double bandwidth = settings().bandwidth * factor;
  return bandwidth > 0 ? static_cast<Nanoseconds>(static_cast<double>(bytes) / bandwidth * 1e9) : 0;
}

void fill_row(std::byte* to, const Fill& fill) {
  if (fill.width == 1) {
    std::memset(to, static_cast<int>(fill.value), fill.columns);
    return;
  }
  for (std::size_t i = 0; i < fill.columns; i++) {
    std::memcpy(to + i * fill.width, &fill.value, fill.width);  // little-endian: the low bytes
  }
}

}  // namespace

Engine::Progress Engine::begin(Stream& stream, Operation& operation, Nanoseconds& time) {
  // A device with an error does nothing more, but events and calls must not leave others waiting.
  if (stream.device.error.load() != kSuccess && !std::holds_alternative<Record>(operation.work) &&
      !std::holds_alternative<Call>(operation.work)) {
    return Progress::kEnded;
  }
  return std::visit([&](auto& work) { return begin_work(stream, work, time); }, operation.work);
}

Engine::Progress Engine::begin_work(Stream& stream, Copy& copy, Nanoseconds& time) {
  Device& device = stream.device;
  Lane* first = nullptr;
  Lane* second = nullptr;
  double factor = 1;
  switch (copy.way) {
    case Copy::Way::kToDevice:
      first = &device.to_device;
      add_to(Count::kCopiesToDevice, 1);
      add_to(Count::kBytesToDevice, copy.bytes);
      break;
    case Copy::Way::kToHost:
      first = &device.to_host;
      add_to(Count::kCopiesToHost, 1);
      add_to(Count::kBytesToHost, copy.bytes);
      break;
    case Copy::Way::kInside: factor = kInsideFactor; break;
    case Copy::Way::kToPeer:
      first = &device.to_host;
      second = &copy.peer->to_device;
      factor = settings().peers ? 1 : 0.5;
      break;
  }
  Nanoseconds begin = time + latency_;
  begin = std::max({begin, first != nullptr ? first->free_at : 0, second != nullptr ? second->free_at : 0});
  stream.due = begin + transfer_time(copy.bytes, factor);
  for (Lane* lane : {first, second}) {
    if (lane != nullptr) {
      lane->free_at = stream.due;
    }
  }
  if (copy.bytes > settings().model_above) {
    due_.push({stream.due, order_++, &stream});
  } else {
    moves_.push_back({&stream, copy.to, copy.from, copy.bytes});
  }
  return Progress::kUnderWay;
}

Engine::Progress Engine::begin_work(Stream& stream, Fill& fill, Nanoseconds& time) {
  const std::size_t bytes = fill.columns * fill.rows * fill.width;
  if (bytes <= settings().model_above) {
    for (std::size_t row = 0; row < fill.rows; row++) {
      fill_row(fill.to + row * fill.pitch, fill);
    }
  }
  due_.push({time + latency_ + transfer_time(bytes, kInsideFactor), order_++, &stream});
  return Progress::kUnderWay;
}

Engine::Progress Engine::begin_work(Stream& stream, Launch& launch, Nanoseconds& time) {
  Device& device = stream.device;
  if (launch.illegal) {
    warn("device %d: kernel %s: illegal address, as MARLINE_EMULATOR_ERROR asks", device.index,
         launch.function->name.c_str());
    fail(device, kIllegalAddress);
    return Progress::kEnded;
  }
  for (std::uint32_t slot = 0; slot < device.slots.size(); slot++) {
    if (device.slots[slot].stream == nullptr) {
      start_kernel(stream, slot, time);
      return Progress::kUnderWay;
    }
  }
  device.waiting.push_back(&stream);
  return Progress::kUnderWay;
}

void Engine::start_kernel(Stream& stream, std::uint32_t slot, Nanoseconds time) {
  Device& device = stream.device;
  const auto& launch = std::get<Launch>(stream.current->work);
  const bool runs = settings().model_above != 0 && launch.function->address != 0;
  device.slots[slot] = {&stream, time + latency_, time + latency_ + kernel_time_, !runs};
  stream.slot = slot;
  add_to(Count::kKernels, 1);
  raise(Count::kMostKernels, ++running_kernels_);
  if (!runs) {
    due_.push({device.slots[slot].end, order_++, &stream});
  } else if (!device.process.send_launch(slot, launch.function->address, {launch.words.get(), launch.word_count})) {
    // Its fault message, if there is one, is in the socket: it becomes the device's error.
    read_answers(device);
  }
}

void Engine::free_slot(Device& device, std::uint32_t slot, Nanoseconds time) {
  device.slots[slot].stream = nullptr;
  running_kernels_--;
  if (device.error.load() != kSuccess) {  // lost: the streams that wait look at their launches again and drop them
    for (Stream* stream : device.waiting) {
      runnable_.push_back({stream, time});
    }
    device.waiting.clear();
  }
  if (device.waiting.empty()) {
    return;
  }
  Stream& next = *device.waiting.front();
  device.waiting.pop_front();
  const Nanoseconds ready = std::max(next.current->submitted, next.ready_at);
  start_kernel(next, slot, std::max(ready, time));
}

void Engine::on_answer(Device& device, const LaunchAnswer& answer) {
  Stream* stream = answer.slot < device.slots.size() ? device.slots[answer.slot].stream : nullptr;
  if (answer.end == LaunchAnswer::End::kDone && stream != nullptr) {
    Slot& slot = device.slots[answer.slot];
    slot.ran = true;
    end_at(*stream, std::max(slot.end, slot.begin + answer.nanoseconds));
    return;
  }
  const char* name = stream != nullptr ? std::get<Launch>(stream->current->work).function->name.c_str() : "(unknown)";
  if (answer.end == LaunchAnswer::End::kIllegalAddress) {
    warn("device %d: kernel %s touched 0x%llx, which is not the device's memory", device.index, name,
         static_cast<unsigned long long>(answer.address));
    fail(device, kIllegalAddress);
  } else {
    warn("device %d: kernel %s was ended by a trap", device.index, name);
    fail(device, kLaunchFailed);
  }
}

// The device's process is gone or its kernels are: what waits for a kernel ends now, and nothing more begins.
void Engine::fail(Device& device, Result error) {
  device.error.store(error);
  device.gone = true;
  for (std::uint32_t slot = 0; slot < device.slots.size(); slot++) {
    Stream* stream = device.slots[slot].stream;
    if (stream != nullptr && !device.slots[slot].ran) {  // what has run ends when its time comes
      device.slots[slot].stream = nullptr;
      running_kernels_--;
      complete_first(*stream, now());
      runnable_.push_back({stream, now()});
    }
  }
  for (Stream* stream : device.waiting) {
    complete_first(*stream, now());
    runnable_.push_back({stream, now()});
  }
  device.waiting.clear();
}

Engine::Progress Engine::begin_work(Stream&, Record& record, Nanoseconds& time) {
  EventState& event = *record.event;
  for (Stream* stream : event.waiting) {
    runnable_.push_back({stream, time});
  }
  event.waiting.clear();
  const std::lock_guard lock(mutex_);
  event.reached = std::max(event.reached.load(), record.number);
  event.time = time;
  if (event.waiters != 0) {
    event.moved.notify_all();
  }
  return Progress::kEnded;
}

// A stream that is woken looks at the event again: it may wait for a later record of the same event.
Engine::Progress Engine::begin_work(Stream& stream, Wait& wait, Nanoseconds& time) {
  const std::lock_guard lock(mutex_);
  if (wait.event->reached >= wait.number) {
    time = std::max(time, wait.event->time);
    return Progress::kEnded;
  }
  wait.event->waiting.push_back(&stream);
  return Progress::kUnderWay;
}

Engine::Progress Engine::begin_work(Stream& stream, Call& call, Nanoseconds& time) {
  const Result status = stream.device.error.load();
  if (call.callback != nullptr) {
    call.callback(&stream, status, call.argument);
  } else if (status == kSuccess) {
    call.function(call.argument);
  }
  time = std::max(time, now());
  return Progress::kEnded;
}

Engine::Progress Engine::begin_work(Stream& stream, Release& release, Nanoseconds&) {
  (void)stream.device.memory.release(release.address);  // it was in use when it was submitted
  return Progress::kEnded;
}

}  // namespace emulator
