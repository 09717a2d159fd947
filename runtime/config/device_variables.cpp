// SPDX-License-Identifier: Apache-2.0
//
// Finds the variable that holds for a device: the one that names fewest devices.
#include "config/device_variables.hpp"

#include "../common/environment.h"
#include "../common/options.hpp"

#include <cstdio>
#include <cstring>

namespace marline {

namespace {

// Variables of control variables with global scope, and the number of the default device.
constexpr const char* kOfTheProgram[] = {
    "OMP_AFFINITY_FORMAT",   "OMP_AVAILABLE_DEVICES", "OMP_CANCELLATION", "OMP_DEBUG",
    "OMP_DEFAULT_DEVICE",    "OMP_DISPLAY_AFFINITY",  "OMP_DISPLAY_ENV",  "OMP_MAX_TASK_PRIORITY",
    "OMP_TARGET_OFFLOAD",    "OMP_THREADS_RESERVE",   "OMP_TOOL",         "OMP_TOOL_LIBRARIES",
    "OMP_TOOL_VERBOSE_INIT",
};

bool has_device_forms(const char* name) {
  if (strncmp(name, "OMP_", 4) != 0) return false;
  for (const char* one : kOfTheProgram) {
    if (strcmp(one, name) == 0) return false;
  }
  return true;
}

const char* given(const char* name, const char* ending, int device) {
  char whole[96];
  int length = device >= 0 ? snprintf(whole, sizeof whole, "%s%s%d", name, ending, device)
                           : snprintf(whole, sizeof whole, "%s%s", name, ending);
  if (length < 0 || static_cast<size_t>(length) >= sizeof whole) return nullptr;
  const char* value = harmless_variable(whole);
  return is_blank(value) ? nullptr : value;
}

}  // namespace

const char* device_variable(const char* name, int device) {
  constexpr int kNone = -1;
  if (!has_device_forms(name) || device < kHostVariables) return nullptr;
  const char* found = device == kHostVariables ? given(name, "", kNone) : given(name, "_DEV_", device);
  if (found == nullptr && device != kHostVariables) found = given(name, "_DEV", kNone);
  return found != nullptr ? found : given(name, "_ALL", kNone);
}

}  // namespace marline
