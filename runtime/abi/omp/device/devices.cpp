// SPDX-License-Identifier: Apache-2.0
//
// Devices and their memory (OpenMP 5.1, sections 3.7 and 3.8) where the host is the only one. If LLVM's libomptarget
// (or a library before it in the loader's order) is in the process, it knows the devices and answers instead: its
// definitions come after Marline's in the loader's order. Any thread.
#include "abi/omp/current.hpp"
#include "abi/omp/next_definition.hpp"
#include "construct/device/provider.hpp"
#include "task/default_device.hpp"
#include "construct/device/rectangle.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline::omp {

namespace {

constexpr int kInitialDevice = -1;  // omp_initial_device

bool is_host(int device) { return device == 0 || device == kInitialDevice; }

int current_device_num() {
  return with_current_icvs([](const Icvs& icvs) { return icvs.device_num; });
}

// Where a rectangular copy on the host begins.
struct Ends {
  char* to;
  const char* from;
};

void copy_run(void* data, size_t to_offset, size_t from_offset, size_t bytes) {
  auto [to, from] = *static_cast<Ends*>(data);
  std::memcpy(to + to_offset, from + from_offset, bytes);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int omp_get_num_devices() {
  auto other = next(omp_get_num_devices, "omp_get_num_devices");
  return other != nullptr ? other() : 0;
}
[[gnu::alias("omp_get_num_devices")]] int omp_get_num_devices_();

// OpenMP 5.1, 3.7.7: the number of the host is the number of other devices.
int omp_get_initial_device() { return omp_get_num_devices(); }
[[gnu::alias("omp_get_initial_device")]] int omp_get_initial_device_();
int omp_get_device_num() {
  int device = current_device_num();
  return device == Icvs::kNoDevice ? omp_get_num_devices() : device;
}
[[gnu::alias("omp_get_device_num")]] int omp_get_device_num_();
int omp_is_initial_device() { return current_device_num() == Icvs::kNoDevice; }
[[gnu::alias("omp_is_initial_device")]] int omp_is_initial_device_();

// default_device keeps the value -1 for the initial device, whatever its number is: -1 stands for the default device in
// GCC's code.
int omp_get_default_device() {
  int device = with_current_icvs([](const Icvs& icvs) {
    if (icvs.default_device == kChosenByDevices) load_devices();
    return default_device_of(icvs);
  });
  return device == kInitialDevice ? omp_get_initial_device() : device;
}
[[gnu::alias("omp_get_default_device")]] int omp_get_default_device_();
void omp_set_default_device(int device) {
  own_current_icvs().default_device = device == omp_get_initial_device() ? kInitialDevice : device;
}
void omp_set_default_device_(const int32_t* device) { omp_set_default_device(*device); }
void omp_set_default_device_8_(const int64_t* device) { omp_set_default_device(nearest_int(*device)); }
void kmp_set_default_device_8(int64_t device) { omp_set_default_device(nearest_int(device)); }
[[gnu::alias("omp_set_default_device_8_")]] void kmp_set_default_device_8_(const int64_t* device);

void* omp_target_alloc(size_t size, int device) {
  if (auto other = next(omp_target_alloc, "omp_target_alloc")) return other(size, device);
  return is_host(device) ? std::malloc(size) : nullptr;
}

void omp_target_free(void* pointer, int device) {
  if (auto other = next(omp_target_free, "omp_target_free")) {
    other(pointer, device);
  } else if (is_host(device)) {
    std::free(pointer);
  }
}

int omp_target_is_present(const void* pointer, int device) {
  if (auto other = next(omp_target_is_present, "omp_target_is_present")) return other(pointer, device);
  return is_host(device) ? 1 : 0;
}

int omp_target_memcpy(void* to, const void* from, size_t length, size_t to_offset, size_t from_offset, int to_device,
                      int from_device) {
  if (auto other = next(omp_target_memcpy, "omp_target_memcpy")) {
    return other(to, from, length, to_offset, from_offset, to_device, from_device);
  }
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  if (length == 0) return 0;
  std::memcpy(static_cast<char*>(to) + to_offset, static_cast<const char*>(from) + from_offset, length);
  return 0;
}

int omp_target_memcpy_rect(void* to, const void* from, size_t element, int dimensions, const size_t* volume,
                           const size_t* to_offsets, const size_t* from_offsets, const size_t* to_extents,
                           const size_t* from_extents, int to_device, int from_device) {
  if (auto other = next(omp_target_memcpy_rect, "omp_target_memcpy_rect")) {
    return other(to, from, element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents, to_device,
                 from_device);
  }
  // The most dimensions that are supported (OpenMP 5.1, 3.8.6).
  if (to == nullptr && from == nullptr) return MARLINE_RECTANGLE_DIMENSIONS;
  bool valid =
      is_host(to_device) && is_host(from_device) && dimensions >= 1 && dimensions <= MARLINE_RECTANGLE_DIMENSIONS;
  if (!valid) return EINVAL;
  Ends ends = {static_cast<char*>(to), static_cast<const char*>(from)};
  rectangle_runs({element, dimensions, volume, to_offsets, from_offsets, to_extents, from_extents}, 0, 0, copy_run,
                 &ends);
  return 0;
}

// The host's data is not mapped to itself: there is nothing to associate.
int omp_target_associate_ptr(const void* host, const void* device_pointer, size_t size, size_t offset, int device) {
  auto other = next(omp_target_associate_ptr, "omp_target_associate_ptr");
  return other != nullptr ? other(host, device_pointer, size, offset, device) : EINVAL;
}
int omp_target_disassociate_ptr(const void* host, int device) {
  auto other = next(omp_target_disassociate_ptr, "omp_target_disassociate_ptr");
  return other != nullptr ? other(host, device) : EINVAL;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
