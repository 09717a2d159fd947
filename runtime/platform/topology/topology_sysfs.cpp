// SPDX-License-Identifier: Apache-2.0
//
// Reads the files of /sys/devices/system/cpu and node. Sources: the kernel's Documentation/admin-guide/cputopology.rst,
// Documentation/ABI/stable/sysfs-devices-system-cpu and -node.
#include "platform/topology/topology_sysfs.hpp"

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <initializer_list>
#include <unistd.h>

#include "config/cpu_list.hpp"
#include "platform/topology/topology_layers.hpp"

namespace marline {
namespace {

// The longest list has every second CPU: four digits and a comma each. A longer file is refused.
constexpr size_t kText = CpuMask::kCpus / 2 * 5 + 2;
// x86 has four for a CPU, the most that are known; further ones are not read.
constexpr int kCaches = 8;
constexpr int kMostNodes = Topology::kNodes;  // nodes with higher numbers belong to no domain

enum class Found { kYes, kNo, kUnclear };

// The folder /sys/devices/system, and one file of it at a time.
class Folder {
 public:
  explicit Folder(const char* root) : text_(static_cast<char*>(malloc(kText))) {
    snprintf(path_, sizeof path_, "%s/sys/devices/system", root);
    if (text_ != nullptr) folder_ = open(path_, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  }
  ~Folder() {
    if (folder_ >= 0) close(folder_);
    free(text_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] bool is_open() const { return folder_ >= 0; }

  // The functions below read the file that `name` has set, with a path in the manner of printf.
  [[gnu::format(printf, 2, 3)]] void name(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path_, sizeof path_, format, arguments);
    va_end(arguments);
  }

  [[nodiscard]] bool exists() const { return faccessat(folder_, path_, F_OK, 0) == 0; }

  // Reads the numbers of a list, which may be empty.
  Found read_list(CpuMask& result) {
    result = {};
    if (const Found found = read_text(); found != Found::kYes) return found;
    Cursor in(text_);
    while (!in.at_end()) {
      if (!read_cpu_range(in, [&](int number) { result.set(number); })) return Found::kUnclear;
      if (!in.accept(',') && !in.at_end()) return Found::kUnclear;
    }
    return Found::kYes;
  }

  Found read_number(int& result) {
    if (const Found found = read_text(); found != Found::kYes) return found;
    int64_t number;
    if (!Cursor(text_).accept_number(0, INT_MAX, number)) return Found::kUnclear;
    result = static_cast<int>(number);
    return Found::kYes;
  }

  // Reads up to kMostNodes numbers, separated by blanks; returns how many.
  int read_row(int* result) {
    if (read_text() != Found::kYes) return 0;
    Cursor in(text_);
    int count = 0;
    for (int64_t number; count < kMostNodes && in.accept_number(0, INT_MAX, number);) {
      result[count++] = static_cast<int>(number);
    }
    return count;
  }

 private:
  // The kernel ends a file with a new line, so no second read is needed to find the end.
  Found read_text() {
    const int file = openat(folder_, path_, O_RDONLY | O_CLOEXEC);
    if (file < 0) return errno == ENOENT || errno == ENOTDIR ? Found::kNo : Found::kUnclear;
    size_t length = 0;
    ssize_t got = 1;
    while (got > 0 && length < kText - 1 && (length == 0 || text_[length - 1] != '\n')) {
      got = read(file, text_ + length, kText - 1 - length);
      if (got > 0) length += static_cast<size_t>(got);
    }
    close(file);
    text_[length] = '\0';
    return got < 0 || length == kText - 1 ? Found::kUnclear : Found::kYes;
  }

  int folder_ = -1;
  char path_[256];
  char* text_;
};

class Reader {
 public:
  Reader(const char* root, TopologyLayers& layers) : in_(root), layers_(layers) {}

  bool read() {
    if (!in_.is_open()) return false;
    cores_ = layers_.add_layer();
    packages_ = layers_.add_layer();
    if (read_sets(cores_, "core_cpus_list", "thread_siblings_list") != Found::kYes) return false;
    if (read_sets(packages_, "package_cpus_list", "core_siblings_list") == Found::kUnclear) return false;
    return read_caches() && read_groups() && read_nodes();
  }

  bool convert(Topology& result) const {
    MaskList* levels = result.level;
    for (int16_t& domain : result.domain_of_node) domain = -1;
    for (int node = 0; node < kMostNodes; ++node) {
      const int object = object_of_node_[node];
      if (object >= 0) result.domain_of_node[node] = static_cast<int16_t>(layers_.position(nodes_, object));
    }
    if (only_node_ >= 0) result.domain_of_node[only_node_] = 0;
    return layers_.list_cpus(levels[static_cast<int>(Level::kThreads)]) &&
           layers_.list(cores_, levels[static_cast<int>(Level::kCores)]) &&
           layers_.list(last_cache(), levels[static_cast<int>(Level::kLlCaches)]) &&
           layers_.list(nodes_, levels[static_cast<int>(Level::kNumaDomains)]) &&
           layers_.list(packages_, levels[static_cast<int>(Level::kSockets)]) && layers_.list_groups(result.groups);
  }

 private:
  [[nodiscard]] bool is_covered(int layer, int rank) const {
    return layers_.count(layer) > 0 && layers_.object_of(layer, rank) >= 0;
  }

  // Reads the file that in_.name has set: an object that contains this CPU.
  Found read_object(int layer, int rank) {
    CpuMask cpus;
    if (const Found found = in_.read_list(cpus); found != Found::kYes) return found;
    return cpus.test(layers_.cpu(rank)) && layers_.add(layer, cpus) ? Found::kYes : Found::kUnclear;
  }

  // All CPUs have the same files. `older`: the file's name before Linux 5.3, or null.
  Found read_sets(int layer, const char* name, const char* older) {
    for (int rank = 0; rank < layers_.cpus(); ++rank) {
      if (is_covered(layer, rank)) continue;
      in_.name("cpu/cpu%d/topology/%s", layers_.cpu(rank), name);
      const Found found = read_object(layer, rank);
      if (found == Found::kYes) continue;
      if (rank > 0 || found == Found::kUnclear) return Found::kUnclear;
      return older != nullptr ? read_sets(layer, older, nullptr) : Found::kNo;
    }
    return Found::kYes;
  }

  // The kernel numbers a CPU's caches from the inside out, and only first-level caches are split in two (data, then
  // instructions). So it is enough to read one level. A number means the same level on every CPU; CPUs differ in the
  // number of their caches.
  bool read_caches() {
    for (int& layer : cache_) layer = layers_.add_layer();
    int level = 1;
    in_.name("cpu/cpu%d/cache/index1/level", layers_.cpu(0));
    if (in_.read_number(level) == Found::kUnclear) return false;
    const int outer = level == 1 ? 2 : 1;
    caches_ = outer;
    for (int rank = 0; rank < layers_.cpus(); ++rank) {
      if (!read_outer_caches(rank, outer)) return false;
    }
    return read_first_caches(caches_ == outer);
  }

  // If a CPU is in an outermost cache that has been read, caches further out need not be read: the CPU for which that
  // cache was read has the same caches around it.
  bool read_outer_caches(int rank, int outer) {
    const bool is_known = caches_ > outer && is_covered(cache_[caches_ - 1], rank);
    for (int i = outer; i < (is_known ? caches_ : kCaches); ++i) {
      if (is_covered(cache_[i], rank)) continue;
      const Found found = read_cache(i, rank);
      if (found == Found::kUnclear) return false;
      if (found == Found::kNo) return true;
      if (i == caches_) ++caches_;
    }
    return true;
  }

  // A first-level cache belongs to a core, or to a part of it if cores have more than two threads. Otherwise it adds
  // nothing, unless there is no other cache.
  bool read_first_caches(bool all) {
    for (int rank = 0; rank < layers_.cpus(); ++rank) {
      const bool divides = layers_.size(cores_, layers_.object_of(cores_, rank)) > 2;
      if (is_covered(cache_[0], rank) || !(all || divides)) continue;
      const Found found = read_cache(0, rank);
      if (found != Found::kYes) return found == Found::kNo;
    }
    return true;
  }

  Found read_cache(int number, int rank) {
    in_.name("cpu/cpu%d/cache/index%d/shared_cpu_list", layers_.cpu(rank), number);
    return read_object(cache_[number], rank);
  }

  // The layer of the highest cache number that any CPU has.
  [[nodiscard]] int last_cache() const {
    int last = kCaches - 1;
    while (last > 0 && layers_.count(cache_[last]) == 0) --last;
    return cache_[last];
  }

  // Reads other groups between cores and the machine. (Only s390 has books and drawers.)
  bool read_groups() {
    if (!clusters_are_known() && read_sets(layers_.add_layer(), "cluster_cpus_list", nullptr) == Found::kUnclear) {
      return false;
    }
    return read_sets(layers_.add_layer(), "die_cpus_list", nullptr) != Found::kUnclear;
  }

  // On x86 a cluster is the CPUs that share a second-level cache (cpu_clustergroup_mask in arch/x86/kernel/smpboot.c).
  // If that is true for the first CPU, the other CPUs' clusters are not read.
  bool clusters_are_known() {
    CpuMask cluster;
    in_.name("cpu/cpu%d/topology/cluster_cpus_list", layers_.cpu(0));
    if (in_.read_list(cluster) != Found::kYes || !cluster.test(layers_.cpu(0))) return false;
    for (const int layer : {cache_[1], cache_[2]}) {  // the second level is one of these
      if (is_covered(layer, 0)) return layers_.has_cpus(layer, layers_.object_of(layer, 0), cluster);
    }
    return false;
  }

  // A kernel without NUMA has no such folder: then memory is one node, number 0. The CPUs of a single node are all
  // CPUs.
  bool read_nodes() {
    memset(object_of_node_, -1, sizeof object_of_node_);
    nodes_ = layers_.add_layer();
    CpuMask online;
    in_.name("node/online");
    const Found found = in_.read_list(online);
    if (found == Found::kUnclear) return false;
    if (found == Found::kNo || online.count() == 1) {
      only_node_ = found == Found::kNo ? 0 : online.first();
      return only_node_ < kMostNodes;
    }
    CpuMask with_cpus;
    for (int node = online.first(); node >= 0 && node < kMostNodes; node = online.next(node + 1)) {
      if (!read_node(node, with_cpus)) return false;
    }
    for (int node = online.first(); node >= 0 && node < kMostNodes; node = online.next(node + 1)) {
      if (!with_cpus.test(node)) object_of_node_[node] = object_near(node, online, with_cpus);
    }
    return true;
  }

  bool read_node(int node, CpuMask& with_cpus) {
    CpuMask cpus;
    in_.name("node/node%d/cpulist", node);
    if (in_.read_list(cpus) != Found::kYes) return false;
    if (cpus.empty()) return true;
    with_cpus.set(node);
    bool is_ours = false;
    for (int rank = 0; rank < layers_.cpus() && !is_ours; ++rank) is_ours = cpus.test(layers_.cpu(rank));
    if (!is_ours) return true;
    object_of_node_[node] = static_cast<int16_t>(layers_.count(nodes_));
    return layers_.add(nodes_, cpus);
  }

  // A node without CPUs (fast or attached memory) belongs to the one node with CPUs that the firmware calls the best
  // for it (access0/initiators, Linux 5.2), or that is nearer than all others. hwloc does the same.
  int16_t object_near(int node, const CpuMask& online, const CpuMask& with_cpus) {
    int found = 0, near = -1;
    for (int other = with_cpus.first(); other >= 0; other = with_cpus.next(other + 1)) {
      in_.name("node/node%d/access0/initiators/node%d", node, other);
      if (!in_.exists()) continue;
      near = other;
      ++found;
    }
    if (found == 0) near = nearest(node, online);
    return found <= 1 && near >= 0 && with_cpus.test(near) ? object_of_node_[near] : static_cast<int16_t>(-1);
  }

  // The node nearest to `node`; -1: several nodes are equally near.
  int nearest(int node, const CpuMask& online) {
    int distance[kMostNodes];
    in_.name("node/node%d/distance", node);
    const int count = in_.read_row(distance);
    int best = INT_MAX, result = -1, index = 0;
    for (int other = online.first(); other >= 0 && index < count; other = online.next(other + 1), ++index) {
      if (other == node || distance[index] > best) continue;
      result = distance[index] < best ? other : -1;
      best = distance[index];
    }
    return result;
  }

  Folder in_;
  TopologyLayers& layers_;
  int cores_ = -1, packages_ = -1, nodes_ = -1;  // numbers of layers (TopologyLayers); -1: no such layer
  int caches_ = 0;                               // one more than the highest cache number so far
  int cache_[kCaches];  // by the kernel's number of a cache: the layer of the caches with this number
  int only_node_ = -1;  // the only memory node's number
  int16_t object_of_node_[kMostNodes];
};

}  // namespace

bool topology_read_sysfs(const char* root, const CpuMask& allowed, Topology& result) {
  TopologyLayers layers;
  if (allowed.empty() || !layers.init(allowed)) return false;
  Reader reader(root, layers);
  if (!reader.read() || !layers.nested()) return false;
  layers.sort();
  result.allowed = allowed;
  result.this_system = true;
  return reader.convert(result);
}

}  // namespace marline
