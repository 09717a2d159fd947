// SPDX-License-Identifier: Apache-2.0
//
// Applies KMP_HW_SUBSET. State: whether the variable has been applied, written while the library is loaded.
#include "platform/topology/hw_subset.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "../common/environment.h"
#include "base/check.hpp"
#include "platform/thread.hpp"
#include "platform/topology/topology_read.hpp"

namespace marline {
namespace {

constexpr const char* kVariable = "KMP_HW_SUBSET";

// Outermost first.
struct Layer {
  Level level;
  const char* words[3];
  // What the layer is if the text does not name it. True: a level with all of its objects; false: no level at all.
  bool implied;
};
constexpr Layer kLayers[] = {{Level::kSockets, {"s", "socket", "sockets"}, true},
                             {Level::kNumaDomains, {"n", "numa", "numa_domain"}, false},
                             {Level::kLlCaches, {"ll", "ll_cache", "l3"}, false},
                             {Level::kCores, {"c", "core", "cores"}, true},
                             {Level::kThreads, {"t", "thread", "threads"}, true}};
constexpr int kLayerCount = 5;

struct Wanted {
  bool named = false;
  int64_t count = INT_MAX;
  int64_t offset = 0;
};

bool read_item(Cursor& in, Wanted (&wanted)[kLayerCount], Text& reason) {
  Wanted one{true, INT_MAX, 0};
  if (!in.accept('*') && !in.accept_number(1, INT_MAX - 1, one.count)) one.count = INT_MAX;
  int layer = 0;
  while (layer < kLayerCount && in.accept_one_of(kLayers[layer].words) < 0) ++layer;
  if (layer == kLayerCount || wanted[layer].named) {
    reason.add("expected s, n, ll, c or t, each once, at \"%s\"", in.rest());
    return false;
  }
  if (in.accept('@') && !in.accept_number(0, INT_MAX - 1, one.offset)) {
    reason.add("expected a number behind @");
    return false;
  }
  wanted[layer] = one;
  return true;
}

// Adds the wanted objects in `parent` to `chosen`; false: there are too few.
bool choose(const MaskList& objects, const CpuMask& parent, const Wanted& wanted, CpuMask& chosen) {
  int64_t index = 0;
  for (int i = 0; i < objects.count; ++i) {
    CpuMask part = objects.masks[i];
    part &= parent;
    if (part.empty()) continue;
    if (index >= wanted.offset && index - wanted.offset < wanted.count) chosen |= part;
    ++index;
  }
  return index > wanted.offset && (wanted.count == INT_MAX || index - wanted.offset >= wanted.count);
}

bool cut(MaskList& list, const CpuMask& to) {
  for (int i = list.count - 1; i >= 0; --i) {
    list.masks[i] &= to;
    if (list.masks[i].empty()) list.remove(i);
  }
  return list.count > 0;
}

bool g_settled = false;  // the process is bound to this machine's subset, or there is none

// The subset of this machine. False: the environment asks for none, or for one that the machine does not have.
bool wanted_subset(const Topology& topology, CpuMask& result) {
  const char* text = trusted_variable(kVariable);
  if (g_settled || text == nullptr || Cursor(text).at_end()) return false;
  char buffer[256];
  Text reason(buffer, sizeof buffer);
  if (hw_subset(text, topology, result, reason)) return true;
  warn("%s=\"%s\" is not usable: %s; using all CPUs that the process may use", kVariable, text, reason.c_str());
  return false;
}

}  // namespace

bool hw_subset(const char* text, const Topology& topology, CpuMask& result, Text& reason) {
  Cursor in(text);
  const bool absolute = in.accept(':');
  Wanted wanted[kLayerCount];
  do {
    if (!read_item(in, wanted, reason)) return false;
  } while (in.accept(','));
  if (!in.at_end()) {
    reason.add("unexpected text at \"%s\"", in.rest());
    return false;
  }
  const MaskList whole{const_cast<CpuMask*>(&topology.allowed), 1};
  const MaskList* parents = &whole;
  result = topology.allowed;
  for (int layer = 0; layer < kLayerCount; ++layer) {
    if (!wanted[layer].named && (absolute || !kLayers[layer].implied)) continue;
    const MaskList& objects = topology.level[static_cast<int>(kLayers[layer].level)];
    CpuMask chosen;
    for (int i = 0; i < parents->count; ++i) {
      CpuMask parent = parents->masks[i];
      parent &= result;
      if (parent.empty() || choose(objects, parent, wanted[layer], chosen)) continue;
      reason.add("there are not so many of %s", kLayers[layer].words[2]);
      return false;
    }
    result = chosen;
    parents = &objects;
  }
  return true;
}

void keep_to_hw_subset() {
  const char* text = trusted_variable(kVariable);
  if (text == nullptr || Cursor(text).at_end()) return;
  Topology topology;
  const char* failure = nullptr;
  CpuMask subset;
  if (topology_read(topology, failure) && topology.this_system) {
    if (wanted_subset(topology, subset) && !thread_bind_self(subset)) warn("cannot keep to %s=\"%s\"", kVariable, text);
    g_settled = true;
  }
  topology_free(topology);
}

void cut_to_hw_subset(Topology& topology) {
  CpuMask subset;
  if (!wanted_subset(topology, subset)) return;
  topology.allowed = subset;
  for (MaskList& list : topology.level) cut(list, subset);
  cut(topology.groups, subset);
}

}  // namespace marline
