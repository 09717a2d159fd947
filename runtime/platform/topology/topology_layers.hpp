// SPDX-License-Identifier: Apache-2.0
//
// The CPUs of a machine in layers, and from them the lists of a Topology. A layer holds disjoint objects: all cores,
// all packages, all caches of a level. A value of one thread's own.
//
// Invariant that nested() checks: of any two objects, in the same or different layers, one contains the other or they
// have no allowed CPU in common. Then the objects are a tree. sort() puts the CPUs in the order of the tree's leaves,
// in which the CPUs of each object are consecutive: from then on an object is an interval.
#pragma once

#include <cstdint>

#include "platform/topology/topology.hpp"

namespace marline {

class TopologyLayers {
 public:
  // Four kinds of sets in a CPU's `topology` folder, eight caches, the memory nodes. No further layer is added.
  static constexpr int kMost = 13;

  TopologyLayers() = default;
  ~TopologyLayers();
  TopologyLayers(const TopologyLayers&) = delete;
  TopologyLayers& operator=(const TopologyLayers&) = delete;

  // Called first. False: memory is exhausted.
  [[nodiscard]] bool init(const CpuMask& allowed);

  // Allowed CPUs are identified by their rank among them.
  [[nodiscard]] int cpus() const { return cpus_; }
  [[nodiscard]] int cpu(int rank) const { return cpu_[rank]; }

  // A new layer without objects; -1 if there are kMost.
  int add_layer() { return layers_ < kMost ? layers_++ : -1; }

  // Adds an object with at least one allowed CPU; it may have CPUs that are not allowed. False: it has a CPU of another
  // object.
  [[nodiscard]] bool add(int layer, const CpuMask& cpus);

  // The number of objects of the layer, in the order of add; and the object that contains a CPU, or -1.
  [[nodiscard]] int count(int layer) const { return count_[layer]; }
  [[nodiscard]] int object_of(int layer, int rank) const { return objects_of(layer)[rank]; }
  [[nodiscard]] int size(int layer, int object) const { return objects(layer)[object].size; }  // in allowed CPUs

  // Whether an object has exactly these CPUs, allowed or not; the caller knows that they have a CPU in common.
  [[nodiscard]] bool has_cpus(int layer, int object, const CpuMask& cpus) const {
    return objects(layer)[object].lowest == cpus.first() && objects(layer)[object].total == cpus.count();
  }

  [[nodiscard]] bool nested();
  void sort();

  // After sort. list: the masks of a layer in order, or one mask of all CPUs if the layer has no object. position: an
  // object's position in that list. list_groups: the sets of two or more CPUs, each once, larger ones first.
  [[nodiscard]] bool list(int layer, MaskList& result) const;
  [[nodiscard]] bool list_cpus(MaskList& result) const;
  [[nodiscard]] int position(int layer, int object) const;
  [[nodiscard]] bool list_groups(MaskList& result) const;

 private:
  struct Object {
    // The lowest of all its CPUs, by the system's number.
    int16_t lowest;
    // The number of all its CPUs.
    int16_t total;
    int16_t leader;  // the lowest rank of its CPUs
    int16_t size;    // its allowed CPUs
    int16_t begin;   // after sort: position of its first CPU
    // In nested(): an object of another layer that shares CPUs with it.
    int16_t beside;
    // In nested(): several objects of the other layer share CPUs with it, or some of its CPUs are in no object there.
    bool mixed;
  };
  struct Span {
    int16_t begin, size;
  };

  Object* objects(int layer) { return objects_ + static_cast<int64_t>(layer) * cpus_; }
  [[nodiscard]] const Object* objects(int layer) const { return objects_ + static_cast<int64_t>(layer) * cpus_; }
  int16_t* objects_of(int layer) { return of_ + static_cast<int64_t>(layer) * cpus_; }
  [[nodiscard]] const int16_t* objects_of(int layer) const { return of_ + static_cast<int64_t>(layer) * cpus_; }

  void look_beside(int layer, int other);
  [[nodiscard]] bool crosses(int layer, int other);
  [[nodiscard]] bool precedes(int rank, int other) const;
  [[nodiscard]] int key(int rank, int other) const;
  [[nodiscard]] CpuMask mask(Span span) const;
  int all_spans(Span* result) const;

  int cpus_ = 0;
  int layers_ = 0;
  int count_[kMost] = {};
  Object* objects_ = nullptr;  // kMost times cpus_: no layer has more objects than CPUs
  int16_t* of_ = nullptr;      // kMost times cpus_: layer, rank -> object
  int16_t* cpu_ = nullptr;     // rank -> the system's number
  int numbers_ = 0;            // the system's highest number of an allowed CPU, plus one
  int16_t* rank_ = nullptr;    // the system's number, below numbers_ -> rank, or -1
  int16_t* order_ = nullptr;   // after sort: ranks
};

}  // namespace marline
