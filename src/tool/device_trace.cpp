// SPDX-License-Identifier: Apache-2.0
//
// See the header; and the functions that a tool finds by a device's lookup function (OpenMP 5.2, section 19.6.2). The
// time of all devices is CLOCK_MONOTONIC in nanoseconds, which is also omp_get_wtime's clock. There are no native
// records.
#include "tool/device_trace.hpp"

#include "base/clock.hpp"

#include <cstring>

namespace marline::tool {

using ompt::Callback;
using ompt::Record;
using ompt::SetResult;

DeviceTrace g_device_traces[kMaxDevices];

int DeviceTrace::number() const { return static_cast<int>(this - g_device_traces); }

void DeviceTrace::enter() { there_.store(true, relaxed); }

bool DeviceTrace::leave() {
  if (!there_.load(relaxed)) return false;
  there_.store(false, relaxed);
  (void)stop();
  return true;
}

void DeviceTrace::forget() {
  there_.store(false, relaxed);
  if (running_) trace_runs(-1);
  running_ = false;
}

void DeviceTrace::enable(unsigned what, bool on) {
  Guard<SpinLock> guard(lock_);
  what_ = on ? what_ | what : what_ & ~what;
}

bool DeviceTrace::start(ompt::BufferRequest request, ompt::BufferComplete complete) {
  Guard<SpinLock> guard(lock_);
  if (running_ || request == nullptr || complete == nullptr) return false;
  request_ = request;
  complete_ = complete;
  paused_ = false;
  running_ = true;
  trace_runs(1);
  return true;
}

bool DeviceTrace::pause(bool begin) {
  Guard<SpinLock> guard(lock_);
  if (running_) paused_ = begin;
  return running_;
}

bool DeviceTrace::flush() {
  Guard<SpinLock> guard(lock_);
  if (running_) give_back();
  return running_;
}

bool DeviceTrace::stop() {
  Guard<SpinLock> guard(lock_);
  if (!running_) return false;
  give_back();
  running_ = false;
  trace_runs(-1);
  return true;
}

void DeviceTrace::give_back() {
  if (buffer_ == nullptr) return;
  char* full = buffer_;
  buffer_ = nullptr;
  complete_(number(), full, bytes_, first_, 1);
}

// For one record, in the buffer that there is or in a new one; null: the tool gives none that is large enough.
Record* DeviceTrace::room() {
  if (buffer_ != nullptr && used_ + sizeof(Record) > bytes_) give_back();
  if (buffer_ == nullptr) {
    void* given = nullptr;
    bytes_ = 0;
    request_(number(), &given, &bytes_);
    size_t first = -reinterpret_cast<uintptr_t>(given) % alignof(Record);
    if (given == nullptr || bytes_ < first + sizeof(Record)) return nullptr;
    buffer_ = static_cast<char*>(given);
    first_ = used_ = first;
  }
  return reinterpret_cast<Record*>(buffer_ + used_);
}

void DeviceTrace::add(const Record& record) {
  unsigned what = record.type == Callback::kTargetSubmit ? kKernels : kData;
  Guard<SpinLock> guard(lock_);
  if (!running_ || paused_ || (what_ & what) == 0) return;
  Record* to = room();
  if (to == nullptr) return;
  *to = record;
  used_ += sizeof(Record);
  if (used_ + sizeof(Record) <= bytes_) to[1].type = Callback::kNone;
}

namespace {

DeviceTrace* trace_of(void* device) { return static_cast<DeviceTrace*>(device); }

int get_device_num_procs(void*) { return -1; }  // of no value that is known
uint64_t get_device_time(void*) { return nanoseconds_now(); }
double translate_time(void*, uint64_t time) { return static_cast<double>(time) * 1e-9; }

int set_trace_ompt(void* device, unsigned enable, unsigned type) {
  unsigned what = 0;
  switch (static_cast<Callback>(type)) {
    case Callback::kNone: what = DeviceTrace::kAll; break;  // all that there are
    case Callback::kTargetDataOp:
    case Callback::kTargetDataOpEmi: what = DeviceTrace::kData; break;
    case Callback::kTargetSubmit:
    case Callback::kTargetSubmitEmi: what = DeviceTrace::kKernels; break;
    default: return static_cast<int>(SetResult::kNever);
  }
  trace_of(device)->enable(what, enable != 0);
  return static_cast<int>(SetResult::kAlways);
}

int set_trace_native(void*, int, int) { return static_cast<int>(SetResult::kNever); }

int start_trace(void* device, ompt::BufferRequest request, ompt::BufferComplete complete) {
  return trace_of(device)->start(request, complete) ? 1 : 0;
}

int pause_trace(void* device, int begin) { return trace_of(device)->pause(begin != 0) ? 1 : 0; }
int flush_trace(void* device) { return trace_of(device)->flush() ? 1 : 0; }
int stop_trace(void* device) { return trace_of(device)->stop() ? 1 : 0; }

Record* record_at(void* buffer, uint64_t cursor) {
  return reinterpret_cast<Record*>(static_cast<char*>(buffer) + cursor);
}

int advance_buffer_cursor(void*, void* buffer, size_t bytes, uint64_t current, uint64_t* next) {
  uint64_t behind = current + sizeof(Record);
  if (behind + sizeof(Record) > bytes || record_at(buffer, behind)->type == Callback::kNone) return 0;
  *next = behind;
  return 1;
}

int get_record_type(void* buffer, uint64_t cursor) {
  bool is = record_at(buffer, cursor)->type != Callback::kNone;
  return static_cast<int>(is ? ompt::RecordType::kOmpt : ompt::RecordType::kInvalid);
}

Record* get_record_ompt(void* buffer, uint64_t cursor) { return record_at(buffer, cursor); }

struct Entry {
  const char* name;
  ompt::Function function;
};

template <class F>
ompt::Function erase(F* function) {
  return reinterpret_cast<ompt::Function>(function);
}

const Entry kEntries[] = {
    {"ompt_get_device_num_procs", erase(get_device_num_procs)},
    {"ompt_get_device_time", erase(get_device_time)},
    {"ompt_translate_time", erase(translate_time)},
    {"ompt_set_trace_ompt", erase(set_trace_ompt)},
    {"ompt_set_trace_native", erase(set_trace_native)},
    {"ompt_start_trace", erase(start_trace)},
    {"ompt_pause_trace", erase(pause_trace)},
    {"ompt_flush_trace", erase(flush_trace)},
    {"ompt_stop_trace", erase(stop_trace)},
    {"ompt_advance_buffer_cursor", erase(advance_buffer_cursor)},
    {"ompt_get_record_type", erase(get_record_type)},
    {"ompt_get_record_ompt", erase(get_record_ompt)},
};

}  // namespace

ompt::Function device_inquiry(const char* name) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

}  // namespace marline::tool
