// SPDX-License-Identifier: Apache-2.0
// The driver's functions about devices and contexts. A device has one context, the primary one; its handle is the
// device's own. Any thread; the current context is the thread's own.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>

#include "driver.hpp"

using namespace emulator;

namespace {

struct Attribute {
  int number;
  int value;
};

// What an H100 answers, by the numbers of CUDA's CUdevice_attribute; all others are 0.
constexpr Attribute kAttributes[] = {
    {1, 1024},                                      // threads in a block
    {2, 1024},                                      // and its three extents
    {3, 1024},      {4, 64},      {5, 2147483647},  // the grid's three extents
    {6, 65535},     {7, 65535},   {8, 49152},       // bytes of shared memory in a block
    {9, 65536},                                     // bytes of constant memory
    {10, 32},                                       // threads in a warp
    {12, 65536},                                    // registers in a block
    {13, 1980000},                                  // kHz
    {15, 1},                                        // copies and kernels at the same time
    {16, 132},                                      // multiprocessors
    {19, 1},                                        // host memory can be mapped
    {31, 1},                                        // kernels at the same time
    {36, 2619000},                                  // kHz of the memory
    {37, 5120},                                     // bits of the memory's bus
    {38, 52428800},                                 // bytes of the second-level cache
    {39, 2048},                                     // threads on a multiprocessor
    {40, 2},                                        // copy engines
    {41, 1},                                        // one address space with the host
    {75, 9},                                        // compute capability 9.0
    {76, 0},        {81, 233472},                   // bytes of shared memory on a multiprocessor
    {82, 65536},                                    // registers on a multiprocessor
    {83, 1},                                        // managed memory
    {89, 1},                                        // used by host and device at the same time
    {97, 232448},                                   // bytes of shared memory in a block that asks for it
    {115, 1},                                       // memory pools
};
constexpr int kPciBus = 33;
constexpr int kPciDomain = 50;
constexpr int kNoPciDomain = 0xffff;  // where no card of the machine is
constexpr int kHostNumaDomain = 134;

int domain_of(int index) {
  const auto& domains = settings().domains;
  return static_cast<std::size_t>(index) < domains.size() ? domains[static_cast<std::size_t>(index)] : 0;
}

constexpr int kLimits = 16;
std::atomic<std::size_t> limits[kLimits] = {1024, 1 << 20, 8 << 20};  // of all contexts: stack, printf buffer, heap

Result with_device(int index, Device*& device) {
  if (driver() == nullptr) {
    return kNotInitialized;
  }
  device = driver()->device(index);
  return device != nullptr ? kSuccess : kInvalidDevice;
}

}  // namespace

EMULATOR_ENTRY cuInit(unsigned flags) {
  if (flags != 0) {
    return kInvalidValue;
  }
  start_driver();
  if (driver() == nullptr) {
    return kNotInitialized;  // in a fork
  }
  return log_call("cuInit", driver()->devices.empty() ? kNoDevice : kSuccess);
}

EMULATOR_ENTRY cuDriverGetVersion(int* version) {
  *version = 12090;
  return kSuccess;
}

EMULATOR_ENTRY cuGetErrorString(Result error, const char** text) {
  *text = describe(error);
  return *text != nullptr ? kSuccess : kInvalidValue;
}

EMULATOR_ENTRY cuDeviceGetCount(int* count) {
  *count = driver() != nullptr ? static_cast<int>(driver()->devices.size()) : 0;
  return log_call("cuDeviceGetCount", driver() != nullptr ? kSuccess : kNotInitialized, "%d", *count);
}

EMULATOR_ENTRY cuDeviceGet(int* device, int index) {
  Device* found = nullptr;
  *device = index;
  return with_device(index, found);
}

EMULATOR_ENTRY cuDeviceGetName(char* name, int size, int index) {
  std::snprintf(name, static_cast<std::size_t>(size), "emulated GPU %d", index);
  return kSuccess;
}

EMULATOR_ENTRY cuDeviceGetUuid(char* uuid, int index) {
  std::memcpy(uuid, "marline-emulator", 16);
  uuid[15] = static_cast<char>(index);
  return kSuccess;
}
extern "C" __attribute__((visibility("default"), alias("cuDeviceGetUuid"))) Result cuDeviceGetUuid_v2(char*, int);

EMULATOR_ENTRY cuDeviceTotalMem_v2(std::size_t* bytes, int index) {
  Device* device = nullptr;
  const Result result = with_device(index, device);
  *bytes = device != nullptr ? device->memory.size() : 0;
  return result;
}
EMULATOR_ALIAS(cuDeviceTotalMem);

EMULATOR_ENTRY cuDeviceGetAttribute(int* value, int attribute, int index) {
  const auto* found = std::find_if(std::begin(kAttributes), std::end(kAttributes),
                                   [&](const Attribute& known) { return known.number == attribute; });
  *value = attribute == kPciBus             ? index + 1
           : attribute == kPciDomain        ? kNoPciDomain
           : attribute == kHostNumaDomain   ? domain_of(index)
           : found != std::end(kAttributes) ? found->value
                                            : 0;
  return log_call("cuDeviceGetAttribute", kSuccess, "%d is %d", attribute, *value);
}

EMULATOR_ENTRY cuDeviceCanAccessPeer(int* can, int from, int to) {
  *can = settings().peers && from != to ? 1 : 0;
  return log_call("cuDeviceCanAccessPeer", kSuccess, "%d to %d: %d", from, to, *can);
}

EMULATOR_ENTRY cuDevicePrimaryCtxRetain(Device** context, int index) {
  const Result result = with_device(index, *context);
  if (result == kSuccess) {
    (*context)->retained++;
  }
  return log_call("cuDevicePrimaryCtxRetain", result, "device %d", index);
}

EMULATOR_ENTRY cuDevicePrimaryCtxRelease_v2(int index) {
  Device* device = nullptr;
  const Result result = with_device(index, device);
  if (result == kSuccess) {
    device->retained--;
  }
  return log_call("cuDevicePrimaryCtxRelease", result, "device %d", index);
}
EMULATOR_ALIAS(cuDevicePrimaryCtxRelease);

EMULATOR_ENTRY cuDevicePrimaryCtxGetState(int index, unsigned* flags, int* active) {
  Device* device = nullptr;
  const Result result = with_device(index, device);
  *flags = 0;
  *active = device != nullptr && device->retained.load() > 0 ? 1 : 0;
  return result;
}

// The flags tell how a waiting thread waits; here it always sleeps.
EMULATOR_ENTRY cuDevicePrimaryCtxSetFlags_v2(int index, unsigned) {
  Device* device = nullptr;
  return with_device(index, device);
}
EMULATOR_ALIAS(cuDevicePrimaryCtxSetFlags);

EMULATOR_ENTRY cuCtxSetCurrent(Device* context) {
  current_device() = context;
  return kSuccess;
}

EMULATOR_ENTRY cuCtxGetCurrent(Device** context) {
  *context = current_device();
  return kSuccess;
}

EMULATOR_ENTRY cuCtxGetDevice(int* index) {
  if (current_device() == nullptr) {
    return kInvalidContext;
  }
  *index = current_device()->index;
  return kSuccess;
}

EMULATOR_ENTRY cuCtxSynchronize() {
  if (driver() == nullptr) {
    return kNotInitialized;
  }
  if (current_device() == nullptr) {
    return kInvalidContext;
  }
  driver()->engine.synchronize(*current_device());
  return log_call("cuCtxSynchronize", current_device()->error.load());
}

EMULATOR_ENTRY cuCtxEnablePeerAccess(Device* peer, unsigned) {
  Device* device = current_device();
  if (device == nullptr || peer == nullptr) {
    return kInvalidContext;
  }
  if (!settings().peers || peer == device) {
    return log_call("cuCtxEnablePeerAccess", kPeerAccessUnsupported, "%d to %d", device->index, peer->index);
  }
  const std::uint32_t bit = std::uint32_t{1} << peer->index;
  if ((device->open_peers.fetch_or(bit) & bit) != 0) {
    return log_call("cuCtxEnablePeerAccess", kPeerAccessAlreadyEnabled, "%d to %d", device->index, peer->index);
  }
  const bool opened = !device->process.started() || device->process.open_peer(static_cast<std::uint32_t>(peer->index));
  return log_call("cuCtxEnablePeerAccess", opened ? kSuccess : kUnknown, "%d to %d", device->index, peer->index);
}

EMULATOR_ENTRY cuCtxGetLimit(std::size_t* value, int limit) {
  if (limit < 0 || limit >= kLimits) {
    return kInvalidValue;
  }
  *value = limits[limit].load();
  return kSuccess;
}

EMULATOR_ENTRY cuCtxSetLimit(int limit, std::size_t value) {
  if (limit < 0 || limit >= kLimits) {
    return kInvalidValue;
  }
  limits[limit].store(value);
  return kSuccess;
}

// Not of CUDA: what the emulator has done so far, for tests. `what` as in the enumeration Count.
extern "C" __attribute__((visibility("default"))) unsigned long long marline_emulator_count(int what) {
  return driver() != nullptr && what >= 0 && what < static_cast<int>(kCounts)
             ? driver()->engine.count(static_cast<Count>(what))
             : 0;
}
