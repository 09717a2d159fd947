// SPDX-License-Identifier: Apache-2.0
//
// Made-up machines as trees of files, as Linux shows them below /sys/devices/system, for the readers of topologies:
// Marline's reads lists of CPUs, hwloc's (with HWLOC_FSROOT) masks, so both are written. The tree is removed with its
// object.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace marline {

using Cpus = std::vector<int>;  // ascending

inline Cpus cpu_range(int first, int count, int stride = 1) {
  Cpus cpus;
  for (int i = 0; i < count; ++i) cpus.push_back(first + i * stride);
  return cpus;
}

// The CPUs of `cpus` for which `index_of` is `which`.
inline Cpus cpus_with(const Cpus& cpus, const std::function<int(int)>& index_of, int which) {
  Cpus result;
  for (const int cpu : cpus) {
    if (index_of(cpu) == which) result.push_back(cpu);
  }
  return result;
}

class SysfsTree {
 public:
  SysfsTree() {
    const char* shared_memory = "/dev/shm";  // thousands of files take seconds on a disk
    const bool in_memory = access(shared_memory, W_OK) == 0;
    const std::filesystem::path folder = in_memory ? shared_memory : std::filesystem::temp_directory_path();
    std::string path = (folder / "sysfs-of-a-test-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) abort();
    root_ = path;
  }
  ~SysfsTree() { std::filesystem::remove_all(root_); }
  SysfsTree(const SysfsTree&) = delete;
  SysfsTree& operator=(const SysfsTree&) = delete;

  std::string root() const { return root_.string(); }

  // Writes a file below /sys/devices/system.
  void file(const std::string& path, const std::string& text) {
    const std::filesystem::path where = root_ / "sys/devices/system" / path;
    if (folders_.insert(where.parent_path().string()).second) {
      std::filesystem::create_directories(where.parent_path());
    }
    std::ofstream(where) << text << "\n";
  }
  void remove_file(const std::string& path) { std::filesystem::remove(root_ / "sys/devices/system" / path); }

  void online(const Cpus& cpus) {
    file("cpu/online", list(cpus));
    file("cpu/possible", list(cpus));
  }

  // Writes a set of CPUs, for example "core_cpus", into the `topology` folder of each CPU in it.
  void set(const std::string& name, const Cpus& cpus) {
    for (const int cpu : cpus) {
      file("cpu/cpu" + std::to_string(cpu) + "/topology/" + name, mask(cpus));
      file("cpu/cpu" + std::to_string(cpu) + "/topology/" + name + "_list", list(cpus));
    }
  }

  // The same for each set into which index_of cuts the CPUs.
  void sets(const std::string& name, const Cpus& cpus, const std::function<int(int)>& index_of) {
    for (int which = 0; which < count(cpus, index_of); ++which) {
      const Cpus members = cpus_with(cpus, index_of, which);
      if (!members.empty()) set(name, members);
    }
  }

  void cache(int index, int level, const std::string& type, const Cpus& cpus) {
    for (const int cpu : cpus) {
      const std::string folder = "cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
      file(folder + "level", std::to_string(level));
      file(folder + "type", type);
      file(folder + "shared_cpu_map", mask(cpus));
      file(folder + "shared_cpu_list", list(cpus));
    }
  }
  void caches(int index, int level, const std::string& type, const Cpus& cpus,
              const std::function<int(int)>& index_of) {
    for (int which = 0; which < count(cpus, index_of); ++which) {
      const Cpus members = cpus_with(cpus, index_of, which);
      if (!members.empty()) cache(index, level, type, members);
    }
  }

  void node(int number, const Cpus& cpus, const std::string& distances) {
    const std::string folder = "node/node" + std::to_string(number) + "/";
    file(folder + "cpulist", list(cpus));
    file(folder + "cpumap", mask(cpus));
    file(folder + "distance", distances);
    file(folder + "meminfo", "Node " + std::to_string(number) + " MemTotal: 1048576 kB");
    nodes_.push_back(number);
    file("node/online", list(nodes_));
  }

  static std::string list(const Cpus& cpus) {
    std::string text;
    for (size_t i = 0; i < cpus.size();) {
      size_t last = i;
      while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
      text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
      if (last > i) text += "-" + std::to_string(cpus[last]);
      i = last + 1;
    }
    return text;
  }

 private:
  static int count(const Cpus& cpus, const std::function<int(int)>& index_of) {
    int result = 0;
    for (const int cpu : cpus) result = std::max(result, index_of(cpu) + 1);
    return result;
  }

  // Words of 32 bits, the highest first.
  static std::string mask(const Cpus& cpus) {
    std::vector<unsigned> words(cpus.empty() ? 1 : static_cast<size_t>(cpus.back()) / 32 + 1);
    for (const int cpu : cpus) words[static_cast<size_t>(cpu) / 32] |= 1u << (cpu % 32);
    std::string text;
    for (size_t i = words.size(); i-- > 0;) {
      char word[16];
      snprintf(word, sizeof word, "%08x", words[i]);
      text += (text.empty() ? "" : ",") + std::string(word);
    }
    return text;
  }

  std::filesystem::path root_;
  std::set<std::string> folders_;  // folders that exist
  std::vector<int> nodes_;
};

// Sockets of cores with two threads each, numbered as on most machines: all first threads, then all second ones. A
// cache of the third level for each `cores_per_cache` cores, a memory node for each `cores_per_node`.
struct Server {
  int sockets, cores, cores_per_cache, cores_per_node;

  int all_cores() const { return sockets * cores; }
  Cpus all() const { return cpu_range(0, 2 * all_cores()); }
  int core(int cpu) const { return cpu % all_cores(); }

  void build(SysfsTree& tree) const {
    const Cpus cpus = all();
    const auto core_of = [this](int cpu) { return core(cpu); };
    const auto node_of = [this](int cpu) { return core(cpu) / cores_per_node; };
    const auto socket_of = [this](int cpu) { return core(cpu) / cores; };
    tree.online(cpus);
    tree.sets("core_cpus", cpus, core_of);
    tree.sets("cluster_cpus", cpus, core_of);
    tree.sets("die_cpus", cpus, socket_of);
    tree.sets("package_cpus", cpus, socket_of);
    tree.caches(0, 1, "Data", cpus, core_of);
    tree.caches(1, 1, "Instruction", cpus, core_of);
    tree.caches(2, 2, "Unified", cpus, core_of);
    tree.caches(3, 3, "Unified", cpus, [this](int cpu) { return core(cpu) / cores_per_cache; });
    const int nodes = all_cores() / cores_per_node;
    for (int node = 0; node < nodes; ++node) {
      std::string distances;
      for (int other = 0; other < nodes; ++other) {
        const bool near = node * cores_per_node / cores == other * cores_per_node / cores;
        distances += other == node ? "10 " : near ? "12 " : "32 ";
      }
      tree.node(node, cpus_with(cpus, node_of, node), distances);
    }
  }
};

// Two sockets with 64 cores each, eight third-level caches and four memory nodes per socket: 256 CPUs.
inline constexpr Server kLargeServer{2, 64, 8, 16};

}  // namespace marline
