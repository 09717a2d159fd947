// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA driver interface that the emulator answers: result codes, attributes and the types in its
// signatures, as NVIDIA documents them. Handles are pointers to the emulator's own objects. Constants only; no state.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kPeerAccessAlreadyEnabled = 704,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kPeerAccessUnsupported = 217,
  kLaunchFailed = 719,
  kNotSupported = 801,
  kUnknown = 999,
};

inline const char* describe(Result result) {
  switch (result) {
    case kSuccess: return "no error";
    case kInvalidValue: return "invalid argument";
    case kOutOfMemory: return "out of memory";
    case kNotInitialized: return "initialization error";
    case kNoDevice: return "no CUDA-capable device is detected";
    case kInvalidDevice: return "invalid device ordinal";
    case kInvalidImage: return "device kernel image is invalid";
    case kInvalidContext: return "invalid device context";
    case kPeerAccessAlreadyEnabled: return "peer access is already enabled";
    case kInvalidHandle: return "invalid resource handle";
    case kNotFound: return "named symbol not found";
    case kNotReady: return "device not ready";
    case kIllegalAddress: return "an illegal memory access was encountered";
    case kLaunchOutOfResources: return "too many resources requested for launch";
    case kPeerAccessUnsupported: return "peer access is not supported between these two devices";
    case kLaunchFailed: return "unspecified launch failure";
    case kNotSupported: return "operation not supported";
    case kUnknown: return "unknown error";
  }
  return nullptr;
}

struct Device;
struct Event;
struct Function;
struct Module;
struct Stream;

using DevicePointer = std::uint64_t;
using HostFunction = void (*)(void* argument);
using StreamCallback = void (*)(Stream* stream, Result status, void* argument);

}  // namespace emulator
