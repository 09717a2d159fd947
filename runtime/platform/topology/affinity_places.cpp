// SPDX-License-Identifier: Apache-2.0
//
// The places that KMP_AFFINITY and GOMP_CPU_AFFINITY define: a place for each hardware thread, sorted by the machine's
// levels, or a list. Thread i is bound to the i-th place (ProcBind::kInOrder), so the list may have a place twice.
// Stateless.
#include <algorithm>
#include <cstdlib>

#include "config/cpu_list.hpp"
#include "platform/topology/places.hpp"

namespace marline {
namespace {

static_assert(kMostCpus == CpuMask::kCpus);

constexpr int kDepth = 3;  // socket, core, hardware thread

// A hardware thread by its numbers: of its socket, of its core in the socket, and of the thread in the core.
struct HardwareThread {
  int number[kDepth];
  int cpu;
};

const CpuMask* object_with(const MaskList& objects, int cpu) {
  for (int i = 0; i < objects.count; ++i) {
    if (objects.masks[i].test(cpu)) return &objects.masks[i];
  }
  return nullptr;
}

const MaskList& level(const Topology& topology, Level which) { return topology.level[static_cast<int>(which)]; }

// Numbers the threads in the topology's order, in which hardware threads of a core, and cores of a socket, are
// neighbours.
int number_threads(const Topology& topology, HardwareThread* result) {
  const MaskList& threads = level(topology, Level::kThreads);
  const CpuMask *socket = nullptr, *core = nullptr;
  HardwareThread at{{-1, -1, -1}, 0};
  for (int i = 0; i < threads.count; ++i) {
    at.cpu = threads.masks[i].first();
    const CpuMask* its_socket = object_with(level(topology, Level::kSockets), at.cpu);
    const CpuMask* its_core = object_with(level(topology, Level::kCores), at.cpu);
    if (i == 0 || its_socket != socket) {
      at = {{at.number[0] + 1, 0, 0}, at.cpu};
    } else if (its_core != core) {
      at = {{at.number[0], at.number[1] + 1, 0}, at.cpu};
    } else {
      ++at.number[2];
    }
    socket = its_socket;
    core = its_core;
    result[i] = at;
  }
  return threads.count;
}

// Sorts by the `inner` innermost levels first, starting with the innermost; then by the other levels from the outermost
// on. 0 is compact, all levels but one is scatter.
void sort_threads(HardwareThread* threads, int count, int inner) {
  std::sort(threads, threads + count, [inner](const HardwareThread& a, const HardwareThread& b) {
    for (int i = 0; i < kDepth; ++i) {
      const int which = i < inner ? kDepth - 1 - i : i - inner;
      if (a.number[which] != b.number[which]) return a.number[which] < b.number[which];
    }
    return false;
  });
}

bool append_sorted(const Options::Affinity& affinity, const Topology& topology, Places& result) {
  const MaskList& objects = topology.level[static_cast<int>(affinity.granularity)];
  const auto threads = static_cast<size_t>(level(topology, Level::kThreads).count);
  auto* sorted = static_cast<HardwareThread*>(calloc(threads, sizeof(HardwareThread)));
  if (sorted == nullptr) return false;
  const int count = number_threads(topology, sorted);
  const int permute = std::min(affinity.permute, kDepth - 1);
  sort_threads(sorted, count, affinity.kind == AffinityKind::kCompact ? permute : kDepth - 1 - permute);
  bool good = true;
  for (int i = 0; i < count && good; ++i) {
    const CpuMask* object = object_with(objects, sorted[(i + affinity.offset % count) % count].cpu);
    good = result.append(object != nullptr ? *object : topology.allowed);
  }
  free(sorted);
  return good;
}

// Places that are cores or larger objects.
bool append_objects(const Options::Affinity& affinity, const Topology& topology, Places& result) {
  const Granularity granularity = std::max(affinity.granularity, Granularity::kCore);
  const MaskList& objects = topology.level[static_cast<int>(granularity)];
  for (int i = 0; i < objects.count; ++i) {
    if (!result.append(objects.masks[(i + affinity.offset % objects.count) % objects.count])) return false;
  }
  return true;
}

// CPUs that the process may not use are left out, and so are places without a usable CPU.
bool append_list(const char* list, const Topology& topology, Places& result) {
  Cursor in(list);
  CpuMask place;
  bool good = true;
  const auto finish = [&] {
    place &= topology.allowed;
    if (!place.empty()) good = good && result.append(place);
    place = {};
  };
  const bool whole = read_cpu_list(in, ']', [&](int cpu, bool begins) {
    if (begins) finish();
    place.set(cpu);
  });
  finish();
  return good && whole;
}

}  // namespace

bool places_for_affinity(const Options::Affinity& affinity, const Topology& topology, Places& result, Text& reason) {
  bool good = false;
  switch (affinity.kind) {
    case AffinityKind::kPlaces: break;
    case AffinityKind::kCompact:
    case AffinityKind::kScatter: good = append_sorted(affinity, topology, result); break;
    case AffinityKind::kBalanced: good = append_objects(affinity, topology, result); break;
    case AffinityKind::kList: good = append_list(affinity.list, topology, result); break;
  }
  if (!good) reason.add("out of memory");
  if (good && result.count == 0) reason.add("no place has a CPU that this process may use");
  return good && result.count > 0;
}

}  // namespace marline
