// SPDX-License-Identifier: Apache-2.0
//
// Queries of OpenMP 6.0 about devices (chapter 24) and about free agents (section 23.1), answered for the host: one
// device, and all its threads belong to teams. libomptarget, if present, answers for its own devices. Any thread.
#include "abi/omp/next_definition.hpp"
#include "base/check.hpp"

#include <cstdint>
#include <cstring>

extern "C" {
int omp_get_initial_device();
int omp_get_max_teams();
void omp_set_num_teams(int count);
int omp_get_teams_thread_limit();
void omp_set_teams_thread_limit(int limit);
}

namespace marline::omp {

namespace {

constexpr int kInitialDevice = -1, kInvalidDevice = -2;  // omp_initial_device, omp_invalid_device
constexpr const char* kHost = "HOST";                    // as LLVM's

bool is_host(int device) { return device == kInitialDevice || device == omp_get_initial_device(); }

// Section 24.12: a number that is no device ends the program. For devices other than the host the values are dropped:
// libomptarget has no routine to set them.
bool is_host_to_set(const char* routine, int device) {
  if (device < kInitialDevice || device > omp_get_initial_device()) {
    fatal("%s: %d is no device; they go from %d to %d", routine, device, kInitialDevice, omp_get_initial_device());
  }
  return is_host(device);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

const char* omp_get_uid_from_device(int device) {
  if (is_host(device)) return kHost;
  auto other = next(omp_get_uid_from_device, "omp_get_uid_from_device");
  return other != nullptr && device != kInvalidDevice ? other(device) : nullptr;
}

int omp_get_device_from_uid(const char* uid) {
  if (uid == nullptr) return kInvalidDevice;
  if (std::strcmp(uid, kHost) == 0) return omp_get_initial_device();
  auto other = next(omp_get_device_from_uid, "omp_get_device_from_uid");
  return other != nullptr ? other(uid) : kInvalidDevice;
}
// Fortran: text and then its length; the text may be filled with blanks.
int omp_get_device_from_uid_(const char* uid, size_t length) {
  char copy[256] = {};
  while (length > 0 && uid[length - 1] == ' ') --length;
  if (length >= sizeof copy) return kInvalidDevice;
  std::memcpy(copy, uid, length);
  return omp_get_device_from_uid(copy);
}

// A hardware thread of a CPU makes progress whatever its neighbours do.
int omp_get_max_progress_width(int) { return 1; }
int omp_get_max_progress_width_(const int32_t*) { return 1; }

// The host's nteams-var and teams-thread-limit-var are accessed by the routines without a device argument, too.
int omp_get_device_num_teams(int device) { return is_host(device) ? omp_get_max_teams() : 0; }
int omp_get_device_num_teams_(const int32_t* device) { return omp_get_device_num_teams(*device); }
void omp_set_device_num_teams(int count, int device) {
  if (is_host_to_set("omp_set_device_num_teams", device)) omp_set_num_teams(count);
}
void omp_set_device_num_teams_(const int32_t* count, const int32_t* device) {
  omp_set_device_num_teams(*count, *device);
}
int omp_get_device_teams_thread_limit(int device) { return is_host(device) ? omp_get_teams_thread_limit() : 0; }
int omp_get_device_teams_thread_limit_(const int32_t* device) { return omp_get_device_teams_thread_limit(*device); }
void omp_set_device_teams_thread_limit(int limit, int device) {
  if (is_host_to_set("omp_set_device_teams_thread_limit", device)) omp_set_teams_thread_limit(limit);
}
void omp_set_device_teams_thread_limit_(const int32_t* limit, const int32_t* device) {
  omp_set_device_teams_thread_limit(*limit, *device);
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::omp
