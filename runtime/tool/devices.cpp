// SPDX-License-Identifier: Apache-2.0
//
// Passes events of devices to the tool's callbacks and traces. If the tool has registered both callbacks of an event,
// only the newer one (_emi, OpenMP 5.1) is called. An older callback is called at an operation's end, and at a kernel's
// begin (OpenMP 5.2, sections 5.8.3 and 13.8).
#include "tool/devices.hpp"

#include "tool/device_trace.hpp"

namespace marline::tool {

using ompt::Callback;
using ompt::Data;

namespace {

// The host's device number. Stored by device_begin, read by later operations of devices.
Atomic<int> g_host{0};

template <class... Parameters>
auto callback(Callback number) {
  return reinterpret_cast<void (*)(Parameters...)>(get_callback(static_cast<int>(number)));
}

Data* data(uint64_t* word) { return reinterpret_cast<Data*>(word); }
Data* construct_data(const marline_operation_t& of) {
  return of.construct != nullptr ? data(&of.construct->id) : nullptr;
}
uint64_t construct_id(const marline_operation_t& of) { return of.construct != nullptr ? of.construct->id : 0; }
int number_of(int device) { return device == MARLINE_HOST ? g_host.load(relaxed) : device; }
void* address(const void* of) { return const_cast<void*>(of); }

void submit(Endpoint endpoint, marline_operation_t& of) {
  if (auto emi = callback<int, Data*, uint64_t*, unsigned>(Callback::kTargetSubmitEmi)) {
    emi(static_cast<int>(endpoint), construct_data(of), &of.id, of.teams);
  } else if (auto plain = callback<uint64_t, uint64_t, unsigned>(Callback::kTargetSubmit)) {
    if (endpoint == Endpoint::kBegin) plain(construct_id(of), of.id, of.teams);
  }
}

void data_operation(Endpoint endpoint, marline_operation_t& of) {
  if (auto emi = callback<int, Data*, Data*, uint64_t*, int, void*, int, void*, int, size_t, const void*>(
          Callback::kTargetDataOpEmi)) {
    auto* task = of.construct != nullptr ? static_cast<Data*>(of.construct->target_task) : nullptr;
    emi(static_cast<int>(endpoint), task, construct_data(of), &of.id, of.kind, address(of.from),
        number_of(of.from_device), address(of.to), number_of(of.to_device), of.bytes, of.code);
  } else if (auto plain = callback<uint64_t, uint64_t, int, void*, int, void*, int, size_t, const void*>(
                 Callback::kTargetDataOp)) {
    if (endpoint != Endpoint::kEnd) return;
    plain(construct_id(of), of.id, of.kind, address(of.from), number_of(of.from_device), address(of.to),
          number_of(of.to_device), of.bytes, of.code);
  }
}

bool is_known(int device) { return device >= 0 && device < kMaxDevices; }

void report_end(int device) {
  if (!g_device_traces[device].leave()) return;
  if (auto call = callback<int>(Callback::kDeviceFinalize)) call(device);
}

}  // namespace

uint64_t unique_id() {
  static Atomic<uint64_t> last{0};
  return last.fetch_add(1, relaxed) + 1;
}

void target(Endpoint endpoint, marline_construct_t* construct) {
  auto* task = static_cast<Data*>(construct->task);
  if (auto emi = callback<int, int, int, Data*, Data*, Data*, const void*>(Callback::kTargetEmi)) {
    emi(construct->kind, static_cast<int>(endpoint), construct->device, task,
        static_cast<Data*>(construct->target_task), data(&construct->id), construct->code);
  } else if (auto plain = callback<int, int, int, Data*, uint64_t, const void*>(Callback::kTarget)) {
    plain(construct->kind, static_cast<int>(endpoint), construct->device, task, construct->id, construct->code);
  }
}

void target_maps(marline_construct_t* construct, unsigned count, void** host, void** device, size_t* bytes,
                 unsigned* flags) {
  if (auto emi = callback<Data*, unsigned, void**, void**, size_t*, unsigned*, const void*>(Callback::kTargetMapEmi)) {
    emi(data(&construct->id), count, host, device, bytes, flags, construct->code);
  } else if (auto plain =
                 callback<uint64_t, unsigned, void**, void**, size_t*, unsigned*, const void*>(Callback::kTargetMap)) {
    plain(construct->id, count, host, device, bytes, flags, construct->code);
  }
}

void operation(Endpoint endpoint, marline_operation_t* operation) {
  if (operation->kind == 0) {
    submit(endpoint, *operation);
  } else {
    data_operation(endpoint, *operation);
  }
}

void operation_done(const marline_operation_t& of) {
  if (!is_known(of.device)) return;
  ompt::Record record = {};
  record.time = of.begin;
  record.target_id = construct_id(of);
  if (of.kind == 0) {
    record.type = Callback::kTargetSubmit;
    record.kernel = {of.id, of.teams, of.teams, of.end};
  } else {
    record.type = Callback::kTargetDataOp;
    record.data_op = {of.id,    of.kind, of.from, number_of(of.from_device), of.to, number_of(of.to_device),
                      of.bytes, of.end,  of.code};
  }
  g_device_traces[of.device].add(record);
}

void activity(int device, unsigned kind, const char* what, uint64_t begin, uint64_t end) {
  if (!is_known(device)) return;
  ompt::Record record = {};
  record.type = Callback::kNative;
  record.target_id = kind;
  record.native = {ompt::AbstractRecord::kEvent, what, begin, end, ompt::AbstractRecord::kNone};
  g_device_traces[device].add(record);
}

void device_begin(int device, const char* type, int host) {
  if (!is_known(device)) return;
  g_host.store(host, relaxed);
  g_device_traces[device].enter();
  using Initialize = void (*)(int, const char*, void*, ompt::Lookup, const char*);
  if (auto call = reinterpret_cast<Initialize>(get_callback(static_cast<int>(Callback::kDeviceInitialize)))) {
    call(device, type, &g_device_traces[device], device_inquiry, nullptr);
  }
}

// The image has no file name, and its address on the device is not known.
void device_load(int device, const void* image, size_t bytes, uint64_t module) {
  void* const none = reinterpret_cast<void*>(~uintptr_t{0});  // ompt_addr_none
  if (auto call = callback<int, const char*, int64_t, void*, size_t, void*, void*, uint64_t>(Callback::kDeviceLoad)) {
    call(device, nullptr, -1, none, bytes, address(image), none, module);
  }
}

void device_unload(int device, uint64_t module) {
  if (auto call = callback<int, uint64_t>(Callback::kDeviceUnload)) call(device, module);
}

void device_end(int device) {
  if (is_known(device)) report_end(device);
}

void end_devices() {
  for (int device = 0; device < kMaxDevices; ++device) report_end(device);
}

void forget_devices() {
  for (DeviceTrace& trace : g_device_traces) trace.forget();
}

// The order of the locks: a thread may take the registration lock while it holds a trace's lock.
void before_fork() {
  DeviceTrace::lock_all();
  registration_lock();
}

void after_fork_in_parent() {
  registration_unlock();
  DeviceTrace::unlock_all();
}

void after_fork_in_child() {
  after_fork_in_parent();
  forget_devices();
}

}  // namespace marline::tool
