// SPDX-License-Identifier: Apache-2.0
//
// See the header. Any thread; stateless.
#include "abi/gomp/target.hpp"

#include "base/check.hpp"
#include "config/options.hpp"
#include "task/default_device.hpp"

#include <climits>

namespace marline::gomp {

namespace {

constexpr unsigned kKindMask = 0xff, kAlignShift = 8;
constexpr unsigned kFirstprivate = 12;  // GOMP_MAP_FIRSTPRIVATE

// GOMP_TARGET_ARG_*
constexpr uintptr_t kDeviceMask = 0x7f, kAllDevices = 0;
constexpr uintptr_t kValueFollows = 1u << 7;
constexpr uintptr_t kIdMask = 0xff00, kThreadLimit = 2u << 8;
constexpr unsigned kValueShift = 16;

// GOMP_DEVICE_*
constexpr int kDefaultDevice = -1, kHostFallback = -2;

constexpr int kInitialDevice = -1;  // omp_initial_device, as a value of the default device

bool is_private(const MappedVariables& variables, size_t i) {
  return (variables.kinds[i] & kKindMask) == kFirstprivate && variables.addresses[i] != nullptr;
}

size_t alignment(const MappedVariables& variables, size_t i) { return size_t{1} << (variables.kinds[i] >> kAlignShift); }

size_t round_up(size_t value, size_t align) { return (value + align - 1) & ~(align - 1); }

}  // namespace

PrivateRoom private_room(const MappedVariables& variables) {
  PrivateRoom room;
  for (size_t i = 0; i < variables.count; ++i) {
    if (!is_private(variables, i)) continue;
    room.align = std::max(room.align, alignment(variables, i));
    room.bytes = round_up(room.bytes, alignment(variables, i)) + variables.sizes[i];
  }
  return room;
}

void copy_private(const MappedVariables& variables, char* room, void** addresses) {
  size_t offset = 0;
  for (size_t i = 0; i < variables.count; ++i) {
    if (!is_private(variables, i)) {
      addresses[i] = variables.addresses[i];
      continue;
    }
    offset = round_up(offset, alignment(variables, i));
    std::memcpy(room + offset, variables.addresses[i], variables.sizes[i]);
    addresses[i] = room + offset;
    offset += variables.sizes[i];
  }
}

void copy_description(const MappedVariables& from, const MappedVariables& to) {
  if (from.count == 0) return;
  std::memcpy(const_cast<size_t*>(to.sizes), from.sizes, from.count * sizeof(size_t));
  std::memcpy(const_cast<unsigned short*>(to.kinds), from.kinds, from.count * sizeof(unsigned short));
}

int thread_limit_of(void* const* arguments) {
  if (arguments == nullptr) return 0;
  while (*arguments != nullptr) {
    auto word = reinterpret_cast<uintptr_t>(*arguments++);
    bool follows = (word & kValueFollows) != 0;
    intptr_t value = follows ? reinterpret_cast<intptr_t>(*arguments++) : static_cast<intptr_t>(word) >> kValueShift;
    if ((word & kDeviceMask) != kAllDevices || (word & kIdMask) != kThreadLimit) continue;
    return static_cast<int>(std::clamp<intptr_t>(value, 0, INT_MAX));
  }
  return 0;
}

// The program's number of the host is the number of devices, 0. The default device is 0, too, unless the program has set
// it to that (omp_set_default_device).
void must_be_host(Worker* worker, int device) {
  if (options().target_offload != TargetOffload::kMandatory || device == kHostFallback) return;
  bool by_default = device == kDefaultDevice;
  int number = by_default ? default_device_of(*worker->task->icvs) : device;
  if (by_default ? number == kInitialDevice : number == 0) return;
  fatal("OMP_TARGET_OFFLOAD=mandatory, and there is no device %d for code of GCC: unset it to run target regions on the "
        "host", number);
}

}  // namespace marline::gomp
