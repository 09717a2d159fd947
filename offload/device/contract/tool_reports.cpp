// SPDX-License-Identifier: Apache-2.0
//
// Fills in and reports the operations. The thread that asks for a copy to or from a device of this machine makes the
// copy, so the times of the copy are those of the call.
#include "device/contract/tool_reports.hpp"

namespace marline::offload::device {

namespace {

constexpr int kToDevice = 2, kFromDevice = 3;  // ompt_target_data_op_t

marline_operation_t operation(int kind, const Device* device, const Ends& ends, size_t bytes, ReportedConstruct* of,
                              const void* code) {
  marline_operation_t made = {};
  made.construct = of != nullptr ? &of->construct : nullptr;
  made.kind = kind;
  made.device = device->number;
  made.from = ends.from;
  made.from_device = ends.from_device;
  made.to = ends.to;
  made.to_device = ends.to_device;
  made.bytes = bytes;
  made.code = of != nullptr ? of->construct.code : code;
  return made;
}

void begin(marline_operation_t* operation) {
  marline_operation_begin(operation);
  operation->begin = now();
}

void end(marline_operation_t* operation) {
  operation->end = now();
  marline_operation_end(operation);
  marline_operation_done(operation);
}

template <class Work>
void run_and_report(marline_operation_t operation, Work work) {
  begin(&operation);
  work();
  end(&operation);
}

const void* pointer(uint64_t address) { return reinterpret_cast<const void*>(address); }

}  // namespace

void report_write(Device* device, uint64_t to, const void* from, size_t bytes, ReportedConstruct* of,
                  const void* code) {
  Ends ends = {from, MARLINE_HOST, pointer(to), device->number};
  run_and_report(operation(kToDevice, device, ends, bytes, of, code),
                 [&] { device->kind->write(device, to, from, bytes); });
}

void report_read(Device* device, void* to, uint64_t from, size_t bytes, ReportedConstruct* of, const void* code) {
  Ends ends = {pointer(from), device->number, to, MARLINE_HOST};
  run_and_report(operation(kFromDevice, device, ends, bytes, of, code),
                 [&] { device->kind->read(device, to, from, bytes); });
}

marline_operation_t begin_whole(Whole what, const Device* device, const Ends& ends, size_t bytes, const void* code) {
  marline_operation_t made = operation(static_cast<int>(what), device, ends, bytes, nullptr, code);
  begin(&made);
  return made;
}

void end_whole(marline_operation_t* operation) { end(operation); }

void report_memory_slowly(Memory what, Device* device, const void* host, uint64_t address, size_t bytes,
                          ReportedConstruct* of, const void* code) {
  Ends ends = {host, MARLINE_HOST, pointer(address), device->number};
  bool takes_away = what == Memory::kRelease || what == Memory::kDisassociate;
  if (takes_away) ends = {pointer(address), device->number, host, MARLINE_HOST};
  run_and_report(operation(static_cast<int>(what), device, ends, bytes, of, code), [] {});
}

marline_operation_t report_copy_started(const Device* device, const DeviceCopy& copy, ReportedConstruct* of) {
  Ends ends = {copy.host, MARLINE_HOST, pointer(copy.device), device->number};
  if (!copy.is_to_device) ends = {pointer(copy.device), device->number, copy.host, MARLINE_HOST};
  marline_operation_t made =
      operation(copy.is_to_device ? kToDevice : kFromDevice, device, ends, copy.bytes, of, nullptr);
  marline_operation_begin(&made);
  marline_operation_end(&made);
  return made;
}

void report_kernel_begin(ReportedConstruct* of, const Device* device, unsigned teams) {
  if (of == nullptr || !is_reported(MARLINE_ON_KERNEL | MARLINE_ON_TIMES)) return;
  of->kernel = operation(0, device, {}, 0, of, nullptr);
  of->kernel.teams = teams;
  of->has_kernel = true;
  marline_operation_begin(&of->kernel);
}

void report_kernel_started(ReportedConstruct* of) {
  if (of != nullptr && of->has_kernel) marline_operation_end(&of->kernel);
}

void report_kernel_end(ReportedConstruct* of, uint64_t begin, uint64_t end, const Device* by) {
  if (of == nullptr || !of->has_kernel) return;
  of->has_kernel = false;
  if (by != nullptr) of->kernel.device = by->number;
  of->kernel.begin = begin;
  of->kernel.end = end;
  marline_operation_done(&of->kernel);
}

}  // namespace marline::offload::device
