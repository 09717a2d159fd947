// SPDX-License-Identifier: Apache-2.0
//
// Asks the system about this machine's processor. The names of vendor and model are in /proc/cpuinfo on x86-64; on
// AArch64 there are numbers instead, and the names stay empty.
#include "device/processor/processor.hpp"

#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace marline::offload::device {

namespace {

// Copies the text after "KEY : " in a line of /proc/cpuinfo. False: the line is about something else.
template <size_t kBytes>
bool take_value(const char* line, const char* key, char (&to)[kBytes]) {
  if (std::strncmp(line, key, std::strlen(key)) != 0) return false;
  const char* colon = std::strchr(line, ':');
  if (colon == nullptr) return false;
  const char* value = colon + 1 + std::strspn(colon + 1, " \t");
  std::snprintf(to, kBytes, "%.*s", static_cast<int>(std::strcspn(value, "\n")), value);
  return true;
}

void read_names(DeviceFacts& facts) {
  std::FILE* file = std::fopen("/proc/cpuinfo", "re");
  if (file == nullptr) return;
  char line[512], vendor[32] = "";
  while (std::fgets(line, sizeof line, file) != nullptr && *line != '\n') {  // the lines of the first hardware thread
    if (!take_value(line, "vendor_id", vendor)) (void)take_value(line, "model name", facts.name);
  }
  std::fclose(file);
  const char* known = "";
  if (std::strcmp(vendor, "GenuineIntel") == 0) known = "intel";
  if (std::strcmp(vendor, "AuthenticAMD") == 0) known = "amd";
  std::snprintf(facts.vendor, sizeof facts.vendor, "%s", known);
}

}  // namespace

void describe_processor(DeviceFacts& facts) {
  facts = {};
  facts.numa_domain = -1;
  read_names(facts);
  utsname system;
  if (uname(&system) == 0) {
    std::snprintf(facts.arch, sizeof facts.arch, "%.15s", system.machine);
    std::snprintf(facts.isa, sizeof facts.isa, "%.15s", system.machine);
  }
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0) facts.memory = static_cast<uint64_t>(pages) * static_cast<uint64_t>(bytes);
  cpu_set_t usable;
  facts.units = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable)
                                                                  : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace marline::offload::device
