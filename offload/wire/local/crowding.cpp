// SPDX-License-Identifier: Apache-2.0
//
// Reads the load from /proc/loadavg.
#include "wire/local/crowding.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace marline::offload::wire {

double (*g_crowding)() = crowding;

// proc(5), /proc/loadavg: three load averages, then runnable and all threads, as in "5.85 5.51 2.61 1/96 8365".
double crowding() {
  constexpr double kMost = 10;
  char text[128] = "";
  int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 1;
  ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  double last_minute = 0, now = 0;
  if (got <= 0 || std::sscanf(text, "%lf %*f %*f %lf/", &last_minute, &now) != 2) return 1;
  auto cpus = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return std::clamp(std::max(last_minute, now) / cpus, 1.0, kMost);
}

}  // namespace marline::offload::wire
