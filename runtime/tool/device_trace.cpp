// SPDX-License-Identifier: Apache-2.0
//
// The traces of devices, and the functions that a tool finds by a device's lookup function (OpenMP 5.2, section
// 19.6.2). The time of all devices is CLOCK_MONOTONIC in nanoseconds, which is also omp_get_wtime's clock. Native
// records describe the activity of devices other than kernels and copies; all of them have the abstract form.
#include "tool/device_trace.hpp"

#include "base/clock.hpp"

#include <sched.h>

#include <cstring>

namespace marline::tool {

using ompt::Callback;
using ompt::Record;
using ompt::RecordType;
using ompt::SetResult;

DeviceTrace g_device_traces[kMaxDevices];

namespace {

// Its address identifies the calling thread. No task suspends in a callback, so a plain thread-local is enough.
[[gnu::tls_model("initial-exec")]] thread_local char t_self;

// The cursor for a buffer without a record, which is given back unused.
constexpr uint64_t kNoRecord = ~uint64_t{0};

}  // namespace

int DeviceTrace::number() const { return static_cast<int>(this - g_device_traces); }

void DeviceTrace::enter() {
  Guard<SpinLock> guard(lock_);
  there_ = true;
}

bool DeviceTrace::leave() {
  {
    Guard<SpinLock> guard(lock_);
    if (!there_) return false;
    there_ = false;
  }
  (void)stop();
  return true;
}

void DeviceTrace::forget() {
  Guard<SpinLock> guard(lock_);
  there_ = false;
  turn_ = nullptr;
  buffer_ = {};
  end();
}

void DeviceTrace::enable(unsigned what, bool on) {
  Guard<SpinLock> guard(lock_);
  what_ = on ? what_ | what : what_ & ~what;
}

bool DeviceTrace::start(ompt::BufferRequest request, ompt::BufferComplete complete) {
  Guard<SpinLock> guard(lock_);
  if (!there_ || running_ || request == nullptr || complete == nullptr) return false;
  request_ = request;
  complete_ = complete;
  paused_ = false;
  running_ = true;
  ++starts_;
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
  bool mine = take_turn();
  bool runs = running_;
  if (mine) {
    give_back();
    end_turn();
  }
  return runs;
}

bool DeviceTrace::stop() {
  Guard<SpinLock> guard(lock_);
  bool mine = take_turn();
  bool ran = running_;
  end();
  if (mine) {
    give_back();
    end_turn();
  }
  return ran;
}

void DeviceTrace::end() {
  if (running_) trace_runs(-1);
  running_ = false;
}

bool DeviceTrace::take_turn() {
  while (turn_ != nullptr) {
    if (turn_ == &t_self) return false;
    lock_.unlock();
    sched_yield();
    lock_.lock();
  }
  turn_ = &t_self;
  return true;
}

void DeviceTrace::end_turn() {
  if (turn_ == &t_self) turn_ = nullptr;  // otherwise the callback has forked, and this is the child
}

void DeviceTrace::hand_over(ompt::BufferComplete call, char* buffer, size_t bytes, uint64_t first) {
  lock_.unlock();
  call(number(), buffer, bytes, first, 1);
  lock_.lock();
}

void DeviceTrace::give_back() {
  if (buffer_.begin == nullptr) return;
  Buffer full = buffer_;
  buffer_ = {};
  hand_over(complete_, full.begin, full.bytes, full.first);
}

// Asks the tool for a buffer. The tool's callback may stop the trace, and even start another one: then the trace that
// is running does not use this buffer.
void DeviceTrace::ask_for_buffer() {
  ompt::BufferRequest request = request_;
  ompt::BufferComplete call = complete_;
  unsigned start = starts_;
  void* given = nullptr;
  size_t bytes = 0;
  lock_.unlock();
  request(number(), &given, &bytes);
  lock_.lock();
  bool is_for_this = running_ && starts_ == start;
  size_t first = -reinterpret_cast<uintptr_t>(given) % alignof(Record);
  bool fits = given != nullptr && bytes >= first + sizeof(Record);
  if (is_for_this && fits) {
    buffer_ = {static_cast<char*>(given), bytes, first, first};
    return;
  }
  if (is_for_this) end();  // OpenMP 5.2, section 19.5.2.23: no records until the next start
  if (given != nullptr && bytes != 0) hand_over(call, static_cast<char*>(given), bytes, kNoRecord);
}

bool DeviceTrace::has_room() const {
  return buffer_.begin != nullptr && buffer_.used + sizeof(Record) <= buffer_.bytes;
}

// Makes room for a record by a new buffer. False: the calling thread is in a callback of this trace, and the trace gets
// no buffer during a callback.
bool DeviceTrace::renew() {
  if (!take_turn()) return false;
  if (running_ && !has_room()) {  // another thread may have done it while this thread waited
    give_back();
    if (running_) ask_for_buffer();
  }
  end_turn();
  return true;
}

void DeviceTrace::add(const Record& record) {
  unsigned what = record.type == Callback::kTargetSubmit ? kKernels : kData;
  if (record.type == Callback::kNative) what = static_cast<unsigned>(record.target_id);
  Guard<SpinLock> guard(lock_);
  while (running_ && !paused_ && (what_ & what) != 0) {
    if (!has_room()) {
      if (!renew()) return;
      continue;
    }
    auto* to = reinterpret_cast<Record*>(buffer_.begin + buffer_.used);
    *to = record;
    buffer_.used += sizeof(Record);
    if (has_room()) to[1].type = Callback::kNone;
    return;
  }
}

void DeviceTrace::lock_all() {
  for (DeviceTrace& trace : g_device_traces) trace.lock_.lock();
}

void DeviceTrace::unlock_all() {
  for (DeviceTrace& trace : g_device_traces) trace.lock_.unlock();
}

namespace {

DeviceTrace* trace_of(void* device) { return static_cast<DeviceTrace*>(device); }

int get_device_num_procs(void*) { return -1; }  // not known
uint64_t get_device_time(void*) { return nanoseconds_now(); }
double translate_time(void*, uint64_t time) { return static_cast<double>(time) * 1e-9; }

int set_trace_ompt(void* device, unsigned enable, unsigned type) {
  unsigned what = 0;
  switch (static_cast<Callback>(type)) {
    case Callback::kNone: what = DeviceTrace::kAll; break;  // all kinds of records
    case Callback::kTargetDataOp:
    case Callback::kTargetDataOpEmi: what = DeviceTrace::kData; break;
    case Callback::kTargetSubmit:
    case Callback::kTargetSubmitEmi: what = DeviceTrace::kKernels; break;
    default: return static_cast<int>(SetResult::kNever);
  }
  trace_of(device)->enable(what, enable != 0);
  return static_cast<int>(SetResult::kAlways);
}

// Only two of the flags have records.
int set_trace_native(void* device, int enable, int flags) {
  auto what = static_cast<unsigned>(flags) & DeviceTrace::kNative;
  if (what == 0) return static_cast<int>(SetResult::kNever);
  trace_of(device)->enable(what, enable != 0);
  return static_cast<int>(what == static_cast<unsigned>(flags) ? SetResult::kAlways : SetResult::kSometimes);
}

int start_trace(void* device, ompt::BufferRequest request, ompt::BufferComplete complete) {
  return trace_of(device)->start(request, complete) ? 1 : 0;
}

int pause_trace(void* device, int begin) { return trace_of(device)->pause(begin != 0) ? 1 : 0; }
int flush_trace(void* device) { return trace_of(device)->flush() ? 1 : 0; }
int stop_trace(void* device) { return trace_of(device)->stop() ? 1 : 0; }

// Null: there is no record.
Record* record_at(void* buffer, uint64_t cursor) {
  if (cursor == kNoRecord) return nullptr;
  return reinterpret_cast<Record*>(static_cast<char*>(buffer) + cursor);
}

int advance_buffer_cursor(void*, void* buffer, size_t bytes, uint64_t current, uint64_t* next) {
  if (current == kNoRecord) return 0;
  uint64_t after = current + sizeof(Record);
  if (after + sizeof(Record) > bytes || record_at(buffer, after)->type == Callback::kNone) return 0;
  *next = after;
  return 1;
}

int get_record_type(void* buffer, uint64_t cursor) {
  const Record* record = record_at(buffer, cursor);
  auto type = RecordType::kInvalid;
  if (record != nullptr && record->type == Callback::kNative) {
    type = RecordType::kNative;
  } else if (record != nullptr && record->type != Callback::kNone) {
    type = RecordType::kOmpt;
  }
  return static_cast<int>(type);
}

bool is_native(const Record* record) { return record != nullptr && record->type == Callback::kNative; }

Record* get_record_ompt(void* buffer, uint64_t cursor) {
  Record* record = record_at(buffer, cursor);
  return is_native(record) ? nullptr : record;
}

// A native record belongs to no operation of the host.
void* get_record_native(void* buffer, uint64_t cursor, uint64_t* host_operation) {
  Record* record = record_at(buffer, cursor);
  if (!is_native(record)) return nullptr;
  if (host_operation != nullptr) *host_operation = 0;
  return record;
}

void* get_record_abstract(void* native) { return native != nullptr ? &static_cast<Record*>(native)->native : nullptr; }

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
    {"ompt_get_record_native", erase(get_record_native)},
    {"ompt_get_record_abstract", erase(get_record_abstract)},
};

}  // namespace

ompt::Function device_inquiry(const char* name) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return nullptr;
}

}  // namespace marline::tool
