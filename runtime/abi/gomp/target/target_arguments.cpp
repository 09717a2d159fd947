// SPDX-License-Identifier: Apache-2.0
//
// Reads the kinds of GCC's mapped variables, and copies the variables that a region must have for itself. Any thread;
// stateless.
#include "abi/gomp/target/target.hpp"

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "config/options.hpp"
#include "exec/fiber/fiber.hpp"
#include "task/default_device.hpp"

#include <dlfcn.h>

#include <climits>

namespace marline::gomp {

namespace {

constexpr unsigned kKindMask = 0xff, kAlignShift = 8;
// GOMP_MAP_*
constexpr unsigned kFirstprivate = 0x0c, kPointer = 0x04, kDescriptor = 0x05, kAlwaysPointer = 0x1d, kAttach = 0x50;
constexpr unsigned kStructure = 0x1c, kStructureUnordered = 0x3c, kImplicitTo = 0x61;
constexpr size_t kNone = SIZE_MAX;

// GOMP_TARGET_ARG_*
constexpr uintptr_t kDeviceMask = 0x7f, kAllDevices = 0;
constexpr uintptr_t kValueFollows = 1u << 7;
constexpr uintptr_t kIdMask = 0xff00, kThreadLimit = 2u << 8;
constexpr unsigned kValueShift = 16;

// GOMP_DEVICE_*
constexpr int kDefaultDevice = -1, kHostFallback = -2;

constexpr int kInitialDevice = -1;  // omp_initial_device, as a value of the default device

unsigned kind_of(const MappedVariables& variables, size_t i) { return variables.kinds[i] & kKindMask; }

// Whether element i is a member of a structure that an earlier element maps.
bool is_member(const MappedVariables& variables, size_t i) {
  for (size_t k = 0; k < i; ++k) {
    unsigned kind = kind_of(variables, k);
    if ((kind == kStructure || kind == kStructureUnordered) && i - k <= variables.sizes[k]) return true;
  }
  return false;
}

// The number of the element that is the array descriptor in which pointer i lies; kNone: it lies in no descriptor. Only
// pointers are between the two elements.
size_t descriptor_of(const MappedVariables& variables, size_t i) {
  unsigned kind = kind_of(variables, i);
  if (kind != kPointer && kind != kAlwaysPointer) return kNone;
  size_t k = i;
  while (k-- > 0) {
    if (kind_of(variables, k) == kDescriptor) break;
    if (kind_of(variables, k) != kPointer && kind_of(variables, k) != kAlwaysPointer) return kNone;
  }
  if (k == kNone) return kNone;
  auto offset =
      reinterpret_cast<uintptr_t>(variables.addresses[i]) - reinterpret_cast<uintptr_t>(variables.addresses[k]);
  return offset < variables.sizes[k] ? k : kNone;
}

// Whether the program has gfortran's library when the first region asks for it.
bool has_fortran_library() {
  enum Found : int { kUnknown, kNo, kYes };
  static Atomic<int> known{kUnknown};  // each thread finds the same
  int found = known.load(relaxed);
  if (found == kUnknown) {
    found = dlsym(RTLD_DEFAULT, "_gfortran_set_args") != nullptr ? kYes : kNo;
    known.store(found, relaxed);
  }
  return found == kYes;
}

// Whether Fortran code may pass the variables. Elements of these two kinds come from Fortran only, so this also finds
// Fortran code if gfortran's library is linked statically and its symbol is not visible.
bool is_fortran(const MappedVariables& variables) {
  bool passes_pointer = false;
  for (size_t i = 0; i < variables.count; ++i) {
    passes_pointer = passes_pointer || kind_of(variables, i) == kPointer || kind_of(variables, i) == kDescriptor;
  }
  return passes_pointer || has_fortran_library();
}

// Whether an attached pointer points to element i: gfortran 14 marks the data of a component as mapped implicitly, too.
bool is_pointee(const MappedVariables& variables, size_t i) {
  for (size_t k = 0; k < variables.count; ++k) {
    auto** pointer = static_cast<char**>(variables.addresses[k]);
    bool is_attached = kind_of(variables, k) == kAttach && pointer != nullptr;
    if (is_attached && *pointer + variables.sizes[k] == variables.addresses[i]) return true;
  }
  return false;
}

// Whether element i is a temporary of the function that encountered the construct: gfortran's code has computed the
// bounds of a loop or of an array. It is mapped by its address, though a deferred region may run when the function has
// computed other bounds or has returned. (A variable of the program's, by defaultmap(to), looks the same: the region
// gets its value at the construct, too.)
bool is_bound(const MappedVariables& variables, size_t i, const PrivateRoom& room) {
  auto address = reinterpret_cast<uintptr_t>(variables.addresses[i]);
  bool is_on_stack = address >= room.frames_low && address < room.frames_high;
  bool may_be = kind_of(variables, i) == kImplicitTo && variables.sizes[i] <= sizeof(uint64_t) && is_on_stack;
  return may_be && !is_pointee(variables, i);
}

struct Copied {
  size_t bytes = 0;  // 0: it is not copied
  size_t align = 1;
};

Copied copied(const MappedVariables& variables, size_t i, const PrivateRoom& room) {
  unsigned kind = kind_of(variables, i);
  if (variables.addresses[i] == nullptr) return {};
  size_t align = size_t{1} << (variables.kinds[i] >> kAlignShift);
  if (kind == kFirstprivate) return {variables.sizes[i], align};
  if (room.with_bounds && is_bound(variables, i, room)) return {variables.sizes[i], align};
  if (!room.for_device) return {};
  bool may_be_own = kind == kDescriptor || (kind == kPointer && descriptor_of(variables, i) == kNone);
  if (!may_be_own || is_member(variables, i)) return {};
  return {kind == kDescriptor ? variables.sizes[i] : sizeof(void*), alignof(void*)};
}

size_t round_up(size_t value, size_t align) { return (value + align - 1) & ~(align - 1); }

// The address that the region gets for an element that is not copied. A pointer in a descriptor that is copied has its
// address in the copy.
void* address_in_copies(const MappedVariables& variables, size_t i, void* const* addresses) {
  auto* address = static_cast<char*>(variables.addresses[i]);
  size_t k = descriptor_of(variables, i);
  if (address == nullptr || k == kNone) return address;
  return static_cast<char*>(addresses[k]) + (address - static_cast<char*>(variables.addresses[k]));
}

}  // namespace

PrivateRoom private_room(const MappedVariables& variables, bool for_device) {
  PrivateRoom room;
  room.for_device = for_device;
  room.with_bounds = is_fortran(variables);
  room.frames_low = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  room.frames_high = reinterpret_cast<uintptr_t>(this_worker()->fiber->stack.high);
  for (size_t i = 0; i < variables.count; ++i) {
    Copied copy = copied(variables, i, room);
    if (copy.bytes == 0) continue;
    room.align = std::max(room.align, copy.align);
    room.bytes = round_up(room.bytes, copy.align) + copy.bytes;
  }
  return room;
}

void copy_private(const MappedVariables& variables, const PrivateRoom& room, char* memory, void** addresses) {
  size_t offset = 0;
  for (size_t i = 0; i < variables.count; ++i) {
    Copied copy = copied(variables, i, room);
    if (copy.bytes == 0) {
      addresses[i] = room.for_device ? address_in_copies(variables, i, addresses) : variables.addresses[i];
      continue;
    }
    offset = round_up(offset, copy.align);
    std::memcpy(memory + offset, variables.addresses[i], copy.bytes);
    addresses[i] = memory + offset;
    offset += copy.bytes;
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

// The program's number of the host is the number of devices, 0. The default device is 0, too, but does not mean the
// host unless the program has set it to the host (omp_set_default_device).
void must_be_host(Worker* worker, int device) {
  if (options().target_offload != TargetOffload::kMandatory || device == kHostFallback) return;
  bool by_default = device == kDefaultDevice;
  int number = by_default ? default_device_of(*worker->task->icvs) : device;
  if (by_default ? number == kInitialDevice : number == 0) return;
  fatal(
      "OMP_TARGET_OFFLOAD=mandatory, and there is no device %d for code of GCC: unset it to run target regions on the "
      "host",
      number);
}

}  // namespace marline::gomp
