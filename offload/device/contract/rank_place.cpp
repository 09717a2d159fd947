// SPDX-License-Identifier: Apache-2.0
//
// Reads the NUMA domains from /sys/devices/system/node. Without that folder no domain is known.
#include "device/contract/rank_place.hpp"

#include "../common/environment.h"
#include "base/list.hpp"

#include <sched.h>

#include <cstdio>
#include <cstdlib>

namespace marline::offload::device {

namespace {

constexpr int kMostDomains = 1024;

// Reads a line such as "0-3,8-11" from a file.
void read_list(const char* path, List<int, 256>& to) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return;
  int first, last;
  while (std::fscanf(file, "%d", &first) == 1) {
    last = first;
    int next = std::fgetc(file);
    if (next == '-' && std::fscanf(file, "%d", &last) == 1) next = std::fgetc(file);
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) to.push(cpu);
    if (next != ',') break;
  }
  std::fclose(file);
}

// The CPUs that the launcher left to the process, read before the runtime binds the first thread to one place of them.
cpu_set_t g_own;
[[gnu::constructor]] void note_own() {
  if (sched_getaffinity(0, sizeof g_own, &g_own) != 0) CPU_ZERO(&g_own);
}

}  // namespace

RankPlace read_rank_place() {
  RankPlace place = rank_from(trusted_variable);
  if (place.ranks == 0) return place;
  List<int, 256> own, domains;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &g_own)) own.push(cpu);
  }
  read_list("/sys/devices/system/node/has_cpu", domains);
  for (int domain : domains) {
    if (domain >= kMostDomains) break;
    char path[64];
    std::snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", domain);
    List<int, 256> cpus;
    read_list(path, cpus);
    const int slot = slot_in(own.begin(), static_cast<int>(own.count()), cpus.begin(), static_cast<int>(cpus.count()));
    if (slot < 0) continue;
    place.domain = domain;
    place.slot = slot;
  }
  return place;
}

}  // namespace marline::offload::device
