// SPDX-License-Identifier: Apache-2.0
//
// Reads a topology from /sys if that is enough, and otherwise through hwloc.
#include "platform/topology/topology_read.hpp"

#include <cstdlib>
#include <cstring>
#include <hwloc.h>
#include <initializer_list>

#include "../common/environment.h"
#include "platform/thread.hpp"
#include "platform/topology/topology_sysfs.hpp"

namespace marline {
namespace {

// Whether a variable tells hwloc to read another system than this one, or to read it in another way.
bool hwloc_is_wanted() {
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_COMPONENTS",
                           "HWLOC_THISSYSTEM", "HWLOC_DUMPED_HWDATA_DIR"}) {
    if (trusted_variable(name) != nullptr) return true;
  }
  return false;
}

// Destroys the hwloc topology at each return.
class HwlocTopology {
 public:
  HwlocTopology() : ok_(hwloc_topology_init(&topology_) == 0) {}
  ~HwlocTopology() {
    if (ok_) hwloc_topology_destroy(topology_);
  }
  HwlocTopology(const HwlocTopology&) = delete;
  HwlocTopology& operator=(const HwlocTopology&) = delete;

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] hwloc_topology_t get() const { return topology_; }

 private:
  hwloc_topology_t topology_ = nullptr;
  bool ok_;
};

CpuMask mask_of(hwloc_const_bitmap_t set) {
  CpuMask mask;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0 && cpu < CpuMask::kCpus; cpu = hwloc_bitmap_next(set, cpu)) {
    mask.set(cpu);
  }
  return mask;
}

// The last level of cache that the machine has: L3, or another level.
hwloc_obj_type_t last_level_cache(hwloc_topology_t topology) {
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE}) {
    if (hwloc_get_nbobjs_by_type(topology, type) > 0) return type;
  }
  return HWLOC_OBJ_L1CACHE;
}

// The objects of one type, reduced to the allowed CPUs. Two memory nodes with the same CPUs (fast and large memory) are
// one domain. A level that the machine does not show (containers may hide packages) is one object with all CPUs.
bool collect(hwloc_topology_t topology, hwloc_obj_type_t type, const CpuMask& allowed, MaskList& result) {
  const int count = hwloc_get_nbobjs_by_type(topology, type);
  for (int i = 0; i < count; ++i) {
    CpuMask mask = mask_of(hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i))->cpuset);
    mask &= allowed;
    if (mask.empty()) continue;
    if (result.count > 0 && result.masks[result.count - 1] == mask) continue;
    if (!result.append(mask)) return false;
  }
  return result.count > 0 || result.append(allowed);
}

// The objects that CPUs share: cores, caches, dies, memory domains, packages, the machine. hwloc attaches a memory node
// to an object with the same CPUs, so the tree of CPUs contains all of them. An object with the same CPUs as its parent
// is skipped.
bool collect_groups(hwloc_topology_t topology, const CpuMask& allowed, MaskList& result) {
  const int depths = hwloc_topology_get_depth(topology);
  for (int depth = 0; depth < depths; ++depth) {
    const unsigned count = hwloc_get_nbobjs_by_depth(topology, depth);
    for (unsigned i = 0; i < count; ++i) {
      const hwloc_obj* object = hwloc_get_obj_by_depth(topology, depth, i);
      CpuMask mask = mask_of(object->cpuset);
      mask &= allowed;
      if (mask.count() < 2) continue;
      if (object->parent != nullptr) {
        CpuMask around = mask_of(object->parent->cpuset);
        around &= allowed;
        if (around == mask) continue;
      }
      if (!result.append(mask)) return false;
    }
  }
  return true;
}

// Nodes without usable CPUs (memory at a link) belong to no domain.
void number_nodes(hwloc_topology_t topology, Topology& result) {
  for (int16_t& domain : result.domain_of_node) domain = -1;
  const MaskList& domains = result.level[static_cast<int>(Level::kNumaDomains)];
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    CpuMask mask = mask_of(node->cpuset);
    mask &= result.allowed;
    if (mask.empty() || node->os_index >= Topology::kNodes) continue;
    for (int i = 0; i < domains.count; ++i) {
      if (domains.masks[i] == mask) result.domain_of_node[node->os_index] = static_cast<int16_t>(i);
    }
  }
}

bool load(hwloc_topology_t topology, const char*& reason) {
  reason = "hwloc cannot read the machine's description";
  return hwloc_topology_load(topology) == 0;
}

bool convert(hwloc_topology_t topology, const CpuMask* allowed, Topology& result, const char*& reason) {
  result.this_system = hwloc_topology_is_thissystem(topology) != 0;
  result.allowed = mask_of(hwloc_topology_get_allowed_cpuset(topology));
  if (allowed != nullptr) result.allowed &= *allowed;
  if (result.allowed.empty()) {
    reason = "the machine's description has no CPU that this process may use";
    return false;
  }
  const hwloc_obj_type_t types[kLevels] = {HWLOC_OBJ_PU, HWLOC_OBJ_CORE, last_level_cache(topology), HWLOC_OBJ_NUMANODE,
                                           HWLOC_OBJ_PACKAGE};
  for (int i = 0; i < kLevels; ++i) {
    if (collect(topology, types[i], result.allowed, result.level[i])) continue;
    reason = "out of memory";
    return false;
  }
  number_nodes(topology, result);
  reason = "out of memory";
  return collect_groups(topology, result.allowed, result.groups);
}

}  // namespace

bool topology_read(Topology& result, const char*& reason) {
  const CpuMask allowed = thread_affinity();
  if (!hwloc_is_wanted()) {
    if (topology_read_sysfs("", allowed, result)) return true;
    topology_free(result);
  }
  const HwlocTopology topology;
  reason = "hwloc cannot start";
  if (!topology.ok() || !load(topology.get(), reason)) return false;
  const bool here = hwloc_topology_is_thissystem(topology.get()) != 0;
  return convert(topology.get(), here ? &allowed : nullptr, result, reason);
}

bool topology_read_description(const char* synthetic, const char* xml_path, const CpuMask* allowed, Topology& result,
                               const char*& reason) {
  const HwlocTopology topology;
  reason = "hwloc does not understand the description";
  if (!topology.ok()) return false;
  const int status = synthetic != nullptr ? hwloc_topology_set_synthetic(topology.get(), synthetic)
                                          : hwloc_topology_set_xml(topology.get(), xml_path);
  return status == 0 && load(topology.get(), reason) && convert(topology.get(), allowed, result, reason);
}

}  // namespace marline
