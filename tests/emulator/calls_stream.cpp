// SPDX-License-Identifier: Apache-2.0
// The driver's functions about streams and events: each checks its arguments and gives the engine one operation or
// waits for it. Any thread.
#include "driver.hpp"

using namespace emulator;

EMULATOR_ENTRY cuStreamCreate(Stream** stream, unsigned) {
  Device* device = current_device();
  if (device == nullptr) {
    return kInvalidContext;
  }
  if (device->error.load() != kSuccess) {
    return device->error.load();
  }
  *stream = new Stream(*device);
  driver()->engine.add(**stream);
  return log_call("cuStreamCreate", kSuccess, "%p", static_cast<void*>(*stream));
}

EMULATOR_ENTRY cuStreamCreateWithPriority(Stream** stream, unsigned flags, int) {
  return cuStreamCreate(stream, flags);
}

EMULATOR_ENTRY cuStreamDestroy_v2(Stream* stream) {
  if (stream == nullptr) {
    return kInvalidHandle;
  }
  log_call("cuStreamDestroy", kSuccess, "%p", static_cast<void*>(stream));
  driver()->engine.destroy(stream);
  return kSuccess;
}
EMULATOR_ALIAS(cuStreamDestroy);

EMULATOR_ENTRY cuStreamQuery(Stream* stream) {
  stream = stream_or_default(stream);
  Result result = check(stream);
  if (result == kSuccess && !driver()->engine.idle(*stream)) {
    result = kNotReady;
  }
  return log_call("cuStreamQuery", result, "%p", static_cast<void*>(stream));
}

EMULATOR_ENTRY cuStreamSynchronize(Stream* stream) {
  stream = stream_or_default(stream);
  if (const Result result = check(stream); result == kNotInitialized || result == kInvalidContext) {
    return result;
  }
  driver()->engine.synchronize(*stream);
  return log_call("cuStreamSynchronize", stream->device.error.load(), "%p", static_cast<void*>(stream));
}

EMULATOR_ENTRY cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
  stream = stream_or_default(stream);
  const Result result = event == nullptr ? kInvalidHandle : check(stream);
  if (result == kSuccess) {
    driver()->engine.wait_for(*stream, *event);
  }
  return log_call("cuStreamWaitEvent", result, "%p %p", static_cast<void*>(stream), static_cast<void*>(event));
}

EMULATOR_ENTRY cuStreamAddCallback(Stream* stream, StreamCallback callback, void* argument, unsigned) {
  stream = stream_or_default(stream);
  Result result = callback == nullptr ? kInvalidValue : check(stream);
  if (result == kSuccess) {
    result = submit(stream, Call{nullptr, callback, argument});
  }
  return log_call("cuStreamAddCallback", result, "%p", static_cast<void*>(stream));
}

EMULATOR_ENTRY cuLaunchHostFunc(Stream* stream, HostFunction function, void* argument) {
  stream = stream_or_default(stream);
  Result result = function == nullptr ? kInvalidValue : check(stream);
  if (result == kSuccess) {
    result = submit(stream, Call{function, nullptr, argument});
  }
  return log_call("cuLaunchHostFunc", result, "%p", static_cast<void*>(stream));
}

EMULATOR_ENTRY cuEventCreate(Event** event, unsigned) {
  *event = new Event;
  return log_call("cuEventCreate", kSuccess, "%p", static_cast<void*>(*event));
}

EMULATOR_ENTRY cuEventDestroy_v2(Event* event) {
  if (event == nullptr) {
    return kInvalidHandle;
  }
  log_call("cuEventDestroy", kSuccess, "%p", static_cast<void*>(event));
  delete event;  // operations of streams keep its state
  return kSuccess;
}
EMULATOR_ALIAS(cuEventDestroy);

EMULATOR_ENTRY cuEventRecord(Event* event, Stream* stream) {
  stream = stream_or_default(stream);
  const Result result = event == nullptr ? kInvalidHandle : check(stream);
  if (result == kSuccess) {
    driver()->engine.record(*stream, *event);
  }
  return log_call("cuEventRecord", result, "%p %p", static_cast<void*>(stream), static_cast<void*>(event));
}

EMULATOR_ENTRY cuEventQuery(Event* event) {
  if (event == nullptr) {
    return kInvalidHandle;
  }
  return log_call("cuEventQuery", driver()->engine.reached(*event) ? kSuccess : kNotReady, "%p",
                  static_cast<void*>(event));
}

EMULATOR_ENTRY cuEventSynchronize(Event* event) {
  if (event == nullptr) {
    return kInvalidHandle;
  }
  driver()->engine.synchronize(*event);
  return log_call("cuEventSynchronize", kSuccess, "%p", static_cast<void*>(event));
}

EMULATOR_ENTRY cuEventElapsedTime(float* milliseconds, Event* from, Event* to) {
  if (from == nullptr || to == nullptr) {
    return kInvalidHandle;
  }
  if (!driver()->engine.reached(*from) || !driver()->engine.reached(*to)) {
    return kNotReady;
  }
  *milliseconds = static_cast<float>(driver()->engine.milliseconds_between(*from, *to));
  return kSuccess;
}
