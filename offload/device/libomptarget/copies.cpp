// SPDX-License-Identifier: Apache-2.0
//
// Chooses between CUDA's driver and libomptarget's own routine for each copy.
#include "device/libomptarget/copies.hpp"

#include "base/report.hpp"
#include "device/contract/wait.hpp"
#include "device/libomptarget/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

constexpr size_t kPiece = 1 << 20;

int number_of(const CopyEnd& end) { return end.device != nullptr ? llvm_number(end.device) : llvm_host_number(); }

// Calls a routine of libomptarget, which blocks the thread.
template <class... Arguments>
int hold(const CopyEnd& to, const CopyEnd& from, size_t bytes, const char* routine, Arguments... arguments) {
  auto call = reinterpret_cast<int (*)(Arguments...)>(llvm_routine(routine));
  const char* what = from.device == nullptr ? "copy to" : to.device == nullptr ? "copy from" : "copy between devices";
  Blocked blocked(from.device != nullptr ? from.device : to.device, what, bytes);
  return call(arguments...);
}

void add_run(void* copy, size_t to_offset, size_t from_offset, size_t bytes) {
  static_cast<CudaCopy*>(copy)->add(to_offset, from_offset, bytes);
}

int status(Copied copied) { return copied == Copied::kYes ? 0 : -1; }

int hold_for_copy(const CopyEnd& to, const CopyEnd& from, size_t bytes) {
  return hold(to, from, bytes, "omp_target_memcpy", static_cast<void*>(to.address),
              static_cast<const void*>(from.address), bytes, size_t{0}, size_t{0}, number_of(to), number_of(from));
}

}  // namespace

int llvm_copy(const CopyEnd& to, const CopyEnd& from, size_t bytes) {
  ByteRun all = {0, bytes};
  return llvm_copy_runs(to, from, &all, 1);
}

int llvm_copy_runs(const CopyEnd& to, const CopyEnd& from, const ByteRun* runs, size_t count) {
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += runs[i].bytes;
  CudaCopy copy(to, from, bytes);
  if (copy.has_way()) {
    for (size_t i = 0; i < count; ++i) copy.add(runs[i].offset, runs[i].offset, runs[i].bytes);
    return status(copy.finish());
  }
  int result = 0;
  for (size_t i = 0; i < count && result == 0; ++i) {
    result = hold_for_copy({to.device, to.address + runs[i].offset}, {from.device, from.address + runs[i].offset},
                           runs[i].bytes);
  }
  return result;
}

int llvm_read_now(void* to, const CopyEnd& from, size_t bytes) {
  Copied copied = cuda_read_now(to, from.address, bytes);
  return copied == Copied::kNoWay ? hold_for_copy({nullptr, static_cast<char*>(to)}, from, bytes) : status(copied);
}

int llvm_copy_rectangle(const CopyEnd& to, const CopyEnd& from, const marline_rectangle_t& of, size_t bytes) {
  if (bytes == 0) return 0;
  CudaCopy copy(to, from, bytes);
  if (copy.has_way()) {
    marline_rectangle_runs(&of, add_run, &copy);
    return status(copy.finish());
  }
  return hold(to, from, bytes, "omp_target_memcpy_rect", static_cast<void*>(to.address),
              static_cast<const void*>(from.address), of.element, of.dimensions, of.volume, of.to_offsets,
              of.from_offsets, of.to_extents, of.from_extents, number_of(to), number_of(from));
}

int llvm_fill(Device* device, char* address, int value, size_t bytes) {
  Copied filled = cuda_fill(device, address, value, bytes);
  if (filled != Copied::kNoWay) return status(filled);
  size_t room = std::min(bytes, kPiece);
  auto* pattern = static_cast<char*>(std::malloc(room));
  if (pattern == nullptr) fatal("no memory for a fill of device memory");
  std::memset(pattern, value, room);
  int result = 0;
  for (size_t done = 0; done < bytes && result == 0; done += room) {
    result = llvm_copy({device, address + done}, {nullptr, pattern}, std::min(room, bytes - done));
  }
  std::free(pattern);
  return result;
}

}  // namespace marline::offload::device
