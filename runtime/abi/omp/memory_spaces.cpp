// SPDX-License-Identifier: Apache-2.0
//
// Memory spaces of devices, and their resources (OpenMP 6.0, sections 27.1 to 27.4): here only for the host, which has
// two numbers: omp_initial_device and the number of the other devices. The memory of libomptarget's devices is not
// known: their spaces are omp_null_mem_space. In the headers that have these routines the null space is 0. Any thread.
#include "platform/allocator.hpp"

#include <unistd.h>
#include <cstdint>

extern "C" int omp_get_initial_device();

namespace marline::omp {

namespace {

using namespace allocators;

using SpaceHandle = uintptr_t;
constexpr SpaceHandle kNullSpace = 0;
constexpr int kInitialDevice = -1;  // omp_initial_device

bool are_host(int count, const int* devices) {
  bool all = count > 0;
  const int host = omp_get_initial_device();
  for (int i = 0; i < count; ++i) all = all && (devices[i] == kInitialDevice || devices[i] == host);
  return all;
}

SpaceHandle space_of(int count, const int* devices, SpaceHandle space) {
  bool predefined = space == kDefaultSpace60 || (space >= kLargeCapacitySpace && space <= kLowLatencySpace);
  return predefined && are_host(count, devices) ? space : kNullSpace;
}

// The predefined allocator of a predefined space.
AllocatorHandle allocator_of(SpaceHandle space) {
  if (space == kNullSpace) return kNullAllocator;
  return space == kDefaultSpace60 ? kDefaultMemory : space - kLargeCapacitySpace + kLargeCapacityMemory;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

SpaceHandle omp_get_devices_memspace(int count, const int* devices, SpaceHandle space) {
  return space_of(count, devices, space);
}
SpaceHandle omp_get_devices_memspace_(const int* count, const int* devices, const SpaceHandle* space) {
  return space_of(*count, devices, *space);
}
SpaceHandle omp_get_device_memspace(int device, SpaceHandle space) { return space_of(1, &device, space); }
SpaceHandle omp_get_device_memspace_(const int* device, const SpaceHandle* space) {
  return space_of(1, device, *space);
}

// The same routines, with the host as one more device: the given devices must all be the host anyway.
[[gnu::alias("omp_get_devices_memspace")]] SpaceHandle omp_get_devices_and_host_memspace(int count, const int* devices,
                                                                                         SpaceHandle space);
[[gnu::alias("omp_get_devices_memspace_")]] SpaceHandle omp_get_devices_and_host_memspace_(const int* count,
                                                                                           const int* devices,
                                                                                           const SpaceHandle* space);
[[gnu::alias("omp_get_device_memspace")]] SpaceHandle omp_get_device_and_host_memspace(int device, SpaceHandle space);
[[gnu::alias("omp_get_device_memspace_")]] SpaceHandle omp_get_device_and_host_memspace_(const int* device,
                                                                                         const SpaceHandle* space);

// If there are other devices, no memory is known to belong to all devices.
SpaceHandle omp_get_devices_all_memspace(SpaceHandle space) {
  const int host = 0;
  return space_of(1, &host, space);
}
SpaceHandle omp_get_devices_all_memspace_(const SpaceHandle* space) { return omp_get_devices_all_memspace(*space); }

AllocatorHandle omp_get_devices_allocator(int count, const int* devices, SpaceHandle space) {
  return allocator_of(space_of(count, devices, space));
}
AllocatorHandle omp_get_devices_allocator_(const int* count, const int* devices, const SpaceHandle* space) {
  return omp_get_devices_allocator(*count, devices, *space);
}
AllocatorHandle omp_get_device_allocator(int device, SpaceHandle space) {
  return allocator_of(space_of(1, &device, space));
}
AllocatorHandle omp_get_device_allocator_(const int* device, const SpaceHandle* space) {
  return omp_get_device_allocator(*device, *space);
}
[[gnu::alias("omp_get_devices_allocator")]] AllocatorHandle omp_get_devices_and_host_allocator(int count,
                                                                                               const int* devices,
                                                                                               SpaceHandle space);
[[gnu::alias("omp_get_devices_allocator_")]] AllocatorHandle omp_get_devices_and_host_allocator_(
    const int* count, const int* devices, const SpaceHandle* space);
[[gnu::alias("omp_get_device_allocator")]] AllocatorHandle omp_get_device_and_host_allocator(int device,
                                                                                             SpaceHandle space);
[[gnu::alias("omp_get_device_allocator_")]] AllocatorHandle omp_get_device_and_host_allocator_(
    const int* device, const SpaceHandle* space);
AllocatorHandle omp_get_devices_all_allocator(SpaceHandle space) {
  return allocator_of(omp_get_devices_all_memspace(space));
}
AllocatorHandle omp_get_devices_all_allocator_(const SpaceHandle* space) {
  return omp_get_devices_all_allocator(*space);
}

int omp_get_memspace_num_resources(SpaceHandle space) {
  return space == kNullSpace ? 0 : memory_space_resources(space);
}
int omp_get_memspace_num_resources_(const SpaceHandle* space) { return omp_get_memspace_num_resources(*space); }

size_t omp_get_memspace_pagesize(SpaceHandle) { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

// Memory that a target region's dyn_groupprivate clause sets aside for each contention group (OpenMP 6.1, as LLVM 23
// declares them). The host has none: Clang's code for it does not know the clause, and LLVM's runtime answers the same.
void* omp_get_dyn_gprivate_ptr(size_t, int) { return nullptr; }
void* omp_get_dyn_gprivate_nofb_ptr(size_t, int) { return nullptr; }
size_t omp_get_dyn_gprivate_size(int) { return 0; }
SpaceHandle omp_get_dyn_gprivate_memspace(int) { return kNullSpace; }

SpaceHandle omp_get_submemspace(SpaceHandle space, int count, const int* positions) {
  return space == kNullSpace ? kNullSpace : memory_subspace(space, count, positions);
}
SpaceHandle omp_get_submemspace_(const SpaceHandle* space, const int* count, const int* positions) {
  return omp_get_submemspace(*space, *count, positions);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
