// SPDX-License-Identifier: Apache-2.0
//
// Reads from /sys/devices/system/cpu where each CPU is, and divides the CPUs into parts.
#include "device/processor/cpu_parts.hpp"

#include "base/list.hpp"
#include "base/report.hpp"

#include <dirent.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

namespace marline::offload::device {

namespace {

static_assert(sizeof(cpu_set_t) == sizeof(CpuPart::cpus));

auto key_of(const CpuPlace& cpu) { return std::tuple(cpu.socket, cpu.domain, cpu.core, cpu.number); }

bool share_core(const CpuPlace& a, const CpuPlace& b) {
  return a.core >= 0 && a.socket == b.socket && a.domain == b.domain && a.core == b.core;
}

int read_number(int cpu, const char* name) {
  char path[96];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return -1;
  int number;
  if (std::fscanf(file, "%d", &number) != 1) number = -1;
  std::fclose(file);
  return number;
}

// The CPU's folder has a link "node1" to the folder of its domain.
int read_domain(int cpu) {
  char path[64];
  std::snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
  DIR* folder = opendir(path);
  if (folder == nullptr) return -1;
  int domain = -1;
  while (const dirent* entry = readdir(folder)) {
    if (std::sscanf(entry->d_name, "node%d", &domain) == 1) break;
  }
  closedir(folder);
  return domain;
}

void add_to(CpuPart& part, const CpuPlace& cpu) {
  constexpr int kWordBits = 8 * sizeof(unsigned long);
  part.cpus[cpu.number / kWordBits] |= 1UL << (cpu.number % kWordBits);
  bool is_first = part.count++ == 0;
  part.socket = is_first || part.socket == cpu.socket ? cpu.socket : -1;
  part.domain = is_first || part.domain == cpu.domain ? cpu.domain : -1;
}

// Makes a part for each result of `value`, in the order of these results.
template <class Value>
int divide_by(CpuPlace* cpus, int count, CpuPart* parts, Value value) {
  std::sort(cpus, cpus + count, [value](const CpuPlace& a, const CpuPlace& b) {
    return std::pair(value(a), key_of(a)) < std::pair(value(b), key_of(b));
  });
  int found = 0;
  for (int i = 0; i < count; ++i) {
    if (i == 0 || value(cpus[i]) != value(cpus[i - 1])) {
      if (found == kMostCpuParts)
        end_by_options("MARLINE_NODE_DEVICES: there are more than %d such parts here", kMostCpuParts);
      parts[found++] = {};
    }
    add_to(parts[found - 1], cpus[i]);
  }
  return found;
}

// Core i of n lies in part i * shares / n; with fewer cores than parts, part i has core i modulo n.
int divide_cores(CpuPlace* cpus, int count, int shares, CpuPart* parts) {
  std::sort(cpus, cpus + count, [](const CpuPlace& a, const CpuPlace& b) { return key_of(a) < key_of(b); });
  auto begins_core = [cpus](int i) { return i == 0 || !share_core(cpus[i], cpus[i - 1]); };
  int cores = 0, core = -1;
  for (int i = 0; i < count; ++i) cores += begins_core(i) ? 1 : 0;
  std::fill_n(parts, shares, CpuPart{});
  for (int i = 0; i < count; ++i) {
    if (begins_core(i)) ++core;
    if (cores >= shares) {
      add_to(parts[core * shares / cores], cpus[i]);
    } else {
      for (int part = core; part < shares; part += cores) add_to(parts[part], cpus[i]);
    }
  }
  return shares;
}

int divide(PartsBy by, int shares, CpuPlace* cpus, int count, CpuPart* parts) {
  switch (by) {
    case PartsBy::kSockets: return divide_by(cpus, count, parts, [](const CpuPlace& cpu) { return cpu.socket; });
    case PartsBy::kDomains: return divide_by(cpus, count, parts, [](const CpuPlace& cpu) { return cpu.domain; });
    case PartsBy::kShares: return divide_cores(cpus, count, shares, parts);
    default: return divide_by(cpus, count, parts, [](const CpuPlace&) { return 0; });
  }
}

}  // namespace

int divide_places(PartsBy by, int shares, CpuPlace* cpus, int count, CpuPart (&parts)[kMostCpuParts]) {
  int found = divide(by, shares, cpus, count, parts), all = 0;
  for (int i = 0; i < found; ++i) all += parts[i].count;
  bool several = std::any_of(cpus, cpus + count, [cpus](const CpuPlace& cpu) { return cpu.domain != cpus[0].domain; });
  for (int i = 0; i < found; ++i) {
    parts[i].of = all;
    parts[i].has_own_domain = several && parts[i].domain >= 0;
  }
  return found;
}

int divide_cpus(PartsBy by, int shares, CpuPart (&parts)[kMostCpuParts]) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) {
    fatal("the CPUs of this process cannot be read (%s), so they cannot be divided: leave MARLINE_NODE_DEVICES unset",
          strerror(errno));
  }
  List<CpuPlace, 64> cpus;
  for (int cpu = 0; cpu < kMostCpus; ++cpu) {
    if (!CPU_ISSET(cpu, &usable)) continue;
    cpus.push({cpu, read_number(cpu, "physical_package_id"), read_domain(cpu), read_number(cpu, "core_id")});
  }
  return divide_places(by, shares, cpus.begin(), static_cast<int>(cpus.count()), parts);
}

}  // namespace marline::offload::device
