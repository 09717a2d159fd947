// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "device/node/node_parts.hpp"

#include "base/options.hpp"
#include "device/processor/processor.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

struct Wish {
  PartsBy by = PartsBy::kMachine;
  int shares = 1;
};

Wish read_wish() {
  const char* text = option_value(Option::kNodeDevices);
  if (text == nullptr) return {};
  if (std::strcmp(text, "sockets") == 0) return {PartsBy::kSockets, 1};
  if (std::strcmp(text, "numa") == 0) return {PartsBy::kDomains, 1};
  char* end;
  long shares = std::strtol(text, &end, 10);
  if (*text < '0' || *text > '9' || *end != '\0' || shares < 1 || shares > kMostCpuParts) {
    refuse_value(Option::kNodeDevices, text);
  }
  return {PartsBy::kShares, static_cast<int>(shares)};
}

CpuPart g_parts[kMostCpuParts];
WorkerDevices g_devices;

void describe(const Wish& wish, int number, const CpuPart& part, DeviceFacts& facts) {
  facts.units = part.count;
  facts.numa_domain = part.has_own_domain ? part.domain : -1;
  const char* what = wish.by == PartsBy::kSockets ? "socket" : wish.by == PartsBy::kDomains ? "numa" : "part";
  int which = wish.by == PartsBy::kSockets ? part.socket : wish.by == PartsBy::kDomains ? part.domain : number;
  std::snprintf(facts.uid, sizeof facts.uid, "-%s%d", what, which < 0 ? number : which);
}

}  // namespace

const WorkerDevices& worker_devices() {
  if (g_devices.count != 0) return g_devices;
  Wish wish = read_wish();
  int count = wish.by == PartsBy::kMachine ? 1 : divide_cpus(wish.by, wish.shares, g_parts);
  DeviceFacts facts;
  describe_processor(facts);
  for (int i = 0; i < count; ++i) {
    g_devices.devices[i] = {nullptr, facts};
    if (wish.by == PartsBy::kMachine) continue;
    g_devices.devices[i].part = &g_parts[i];
    describe(wish, i, g_parts[i], g_devices.devices[i].facts);
  }
  g_devices.count = count;
  return g_devices;
}

bool expects_several_devices() { return read_wish().by != PartsBy::kMachine; }

}  // namespace marline::target
