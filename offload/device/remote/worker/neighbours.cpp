// SPDX-License-Identifier: Apache-2.0
//
// Writes by system calls to the files of the neighbours' memory. It does not map the files, as a stray access of a
// kernel must not reach another device's memory.
#include "device/remote/worker/neighbours.hpp"

#include "base/device_set.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace marline::offload::device {

namespace {

constexpr int kNotAsked = 0, kNone = -1;
int g_files[kMostDevices];  // by the device's number: a descriptor, which is never 0; or kNotAsked or kNone

int open_file_of(const Peer& neighbour, int file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", neighbour.pid, file);
  int opened = open(path, O_WRONLY | O_CLOEXEC);
  return opened > 0 ? opened : kNone;
}

}  // namespace

bool write_to_neighbour(int number, const Peer& neighbour, int file, uint64_t offset, const void* from,
                        uint64_t bytes) {
  if (number < 0 || number >= kMostDevices) return false;
  int& opened = g_files[number];
  if (opened == kNotAsked) opened = open_file_of(neighbour, file);
  if (opened == kNone) return false;
  auto* at = static_cast<const char*>(from);
  while (bytes != 0) {
    ssize_t written = pwrite(opened, at, bytes, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    offset += static_cast<uint64_t>(written);
    bytes -= static_cast<uint64_t>(written);
  }
  return true;
}

}  // namespace marline::offload::device
