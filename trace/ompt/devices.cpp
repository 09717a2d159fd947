// SPDX-License-Identifier: Apache-2.0
//
// OMPT callbacks of devices. A construct is recorded by the thread that runs it. Kernels and copies are recorded when
// the runtime delivers the records of the device (OpenMP 5.2, section 19.6.2), by the thread in which it does so. Their
// times are the device's: a straight line through two moments that both clocks have seen turns them into cycles. A
// construct's id is the word that the runtime keeps for it, which the records of its operations carry.
#include <stdlib.h>

#include "base/clock.hpp"
#include "ompt/callbacks.hpp"

namespace marline::trace {
namespace {

constexpr int kMostDevices = 256;
constexpr size_t kBufferBytes = 4096;  // a killed program loses up to so many bytes of records

struct Device {
  ompt_device_t* handle;
  ompt_get_device_time_t time;
  ompt_get_record_type_t type;
  ompt_get_record_ompt_t record;
  ompt_get_record_native_t native;
  ompt_get_record_abstract_t abstract;
  ompt_advance_buffer_cursor_t advance;
  ompt_flush_trace_t flush;
  uint64_t cycles;  // at device_time
  uint64_t device_time;
};

// Written when the device is initialised, before it does anything.
Device devices[kMostDevices];

// Converts times of the device's clock, by the present moment and the moment at which the device was initialised.
class DeviceClock {
 public:
  explicit DeviceClock(const Device& device) : device_(device) {
    const uint64_t before = read_cycles();
    const uint64_t now = device.time(device.handle);
    const uint64_t cycles = before + (read_cycles() - before) / 2;
    if (now > device.device_time) {
      rate_ = static_cast<double>(cycles - device.cycles) / static_cast<double>(now - device.device_time);
    }
  }
  u64 cycles(uint64_t time) const {
    return device_.cycles + static_cast<u64>(static_cast<int64_t>(
                                static_cast<double>(static_cast<int64_t>(time - device_.device_time)) * rate_));
  }

 private:
  const Device& device_;
  double rate_ = 1;
};

void on_request(int, ompt_buffer_t** buffer, size_t* bytes) {
  *buffer = malloc(kBufferBytes);
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
}

// The other device of a copy, as event device_copy has it; 0 for the host, which has a number, too, but no records.
u64 other_end(int number) {
  const bool is_device = number >= 0 && number < kMostDevices && devices[number].handle != nullptr;
  return is_device ? static_cast<u64>(number) + 1 : 0;
}

// An operation that began before recording was switched on is not recorded, as elsewhere.
void record_one(Stream& stream, int device, const DeviceClock& clock, const ompt_record_ompt_t& one) {
  const u64 begin = clock.cycles(one.time);
  const u64 switches = load_switches();
  if (!is_off(switches) && begin < switched_at(switches)) {
    return;
  }
  const u64 number = saturated(static_cast<u64>(device), 16);
  if (one.type == ompt_callback_target_submit) {
    const u64 end = clock.cycles(one.record.target_kernel.end_time);
    stream.emit_at(begin, one.target_id, event::device_kernel{.elapsed = end - begin, .device = number});
    return;
  }
  const ompt_record_target_data_op_t& copy = one.record.target_data_op;
  if (copy.optype != ompt_target_data_transfer_to_device && copy.optype != ompt_target_data_transfer_from_device) {
    return;
  }
  const bool leaves = copy.optype == ompt_target_data_transfer_from_device;
  stream.emit_at(begin, one.target_id,
                 event::device_copy{.elapsed = clock.cycles(copy.end_time) - begin,
                                    .device = number,
                                    .bytes = saturated(copy.bytes, 48),
                                    .kind = static_cast<u64>(copy.optype),
                                    .other = other_end(leaves ? copy.dest_device_num : copy.src_device_num)});
}

void record_activity(Stream& stream, int device, const DeviceClock& clock, const ompt_record_abstract_t& one) {
  const u64 begin = clock.cycles(one.start_time);
  const u64 switches = load_switches();
  if (!is_off(switches) && begin < switched_at(switches)) {
    return;
  }
  stream.emit_at(begin, 0,
                 event::device_activity{.elapsed = clock.cycles(one.end_time) - begin,
                                        .device = saturated(static_cast<u64>(device), 16),
                                        .text = stream.intern(one.type)});
}

void on_complete(int number, ompt_buffer_t* buffer, size_t bytes, ompt_buffer_cursor_t cursor, int owned) {
  const Device& device = devices[number];
  Stream* stream = Stream::mine();
  if (stream != nullptr && device.type(buffer, cursor) != ompt_record_invalid) {
    const DeviceClock clock(device);
    do {
      if (device.type(buffer, cursor) == ompt_record_ompt) {
        record_one(*stream, number, clock, *device.record(buffer, cursor));
      } else if (void* native = device.native(buffer, cursor, nullptr)) {
        record_activity(*stream, number, clock, *device.abstract(native));
      }
    } while (device.advance(device.handle, buffer, bytes, cursor, &cursor) != 0);
  }
  if (owned != 0) {
    free(buffer);
  }
}

template <class Function>
bool find(ompt_function_lookup_t lookup, const char* name, Function& function) {
  function = reinterpret_cast<Function>(lookup(name));
  return function != nullptr;
}

// Returns false if the runtime has no records of devices.
bool find_functions(ompt_function_lookup_t lookup, Device& device) {
  return lookup != nullptr && find(lookup, "ompt_get_device_time", device.time) &&
         find(lookup, "ompt_get_record_type", device.type) && find(lookup, "ompt_get_record_ompt", device.record) &&
         find(lookup, "ompt_get_record_native", device.native) &&
         find(lookup, "ompt_get_record_abstract", device.abstract) &&
         find(lookup, "ompt_advance_buffer_cursor", device.advance) && find(lookup, "ompt_flush_trace", device.flush);
}

}  // namespace

void on_device_initialize(int number, const char* type, ompt_device_t* handle, ompt_function_lookup_t lookup,
                          const char*) {
  if (number < 0 || number >= kMostDevices) {
    return;
  }
  if (Stream* stream = Stream::mine()) {
    const u64 text = stream->intern(type == nullptr ? "" : type);
    stream->emit(stream->current_task(), event::device_begin{.text = text, .device = static_cast<u64>(number)});
  }
  Device& device = devices[number];
  ompt_start_trace_t start;
  ompt_set_trace_native_t set_native;
  if (!find_functions(lookup, device) || !find(lookup, "ompt_start_trace", start) ||
      !find(lookup, "ompt_set_trace_native", set_native)) {
    return;
  }
  set_native(handle, 1, ompt_native_overhead | ompt_native_idleness);
  device.handle = handle;
  device.cycles = read_cycles();
  device.device_time = device.time(handle);
  start(handle, on_request, on_complete);
}

void on_target(ompt_target_t kind, ompt_scope_endpoint_t endpoint, int device, ompt_data_t* task,
               ompt_data_t* target_task, ompt_data_t* target, const void* code) {
  Stream* stream = Stream::mine();
  if (stream == nullptr) {
    if (endpoint == ompt_scope_begin) {
      target->value = 0;
    }
    return;
  }
  const u64 id = task_or_current(*stream, target_task != nullptr ? target_task : task);
  if (endpoint == ompt_scope_begin) {
    target->value = stream->new_id();
    stream->emit(id, event::target_begin{.code = address(code),
                                         .construct = target->value,
                                         .device = saturated(static_cast<u64>(device), 8),
                                         .kind = static_cast<u64>(kind)});
  } else if (target->value != 0) {
    stream->emit(id, event::target_end{.construct = target->value});
  }
}

void flush_devices() {
  for (const Device& device : devices) {
    if (device.handle != nullptr) {
      device.flush(device.handle);
    }
  }
}

}  // namespace marline::trace
