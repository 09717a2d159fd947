// SPDX-License-Identifier: Apache-2.0
//
// Collects objects of CPUs, checks that they are nested, and orders them.
#include "platform/topology/topology_layers.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace marline {

TopologyLayers::~TopologyLayers() { free(objects_); }

// Allocates one block. Pages of layers that the machine does not have are never touched.
bool TopologyLayers::init(const CpuMask& allowed) {
  cpus_ = allowed.count();
  const auto cpus = static_cast<size_t>(cpus_);
  for (int cpu = allowed.first(); cpu >= 0; cpu = allowed.next(cpu + 1)) numbers_ = cpu + 1;
  const size_t numbers = kMost * cpus + 2 * cpus + static_cast<size_t>(numbers_);
  objects_ = static_cast<Object*>(calloc(kMost * cpus * sizeof(Object) + numbers * sizeof(int16_t), 1));
  if (objects_ == nullptr) return false;
  rank_ = reinterpret_cast<int16_t*>(objects_ + kMost * cpus);
  cpu_ = rank_ + numbers_;
  order_ = cpu_ + cpus;
  of_ = order_ + cpus;
  memset(rank_, -1, static_cast<size_t>(numbers_) * sizeof(int16_t));
  int rank = 0;
  for (int cpu = allowed.first(); cpu >= 0; cpu = allowed.next(cpu + 1)) {
    rank_[cpu] = static_cast<int16_t>(rank);
    cpu_[rank++] = static_cast<int16_t>(cpu);
  }
  return true;
}

bool TopologyLayers::add(int layer, const CpuMask& cpus) {
  int16_t* of = objects_of(layer);
  if (count_[layer] == 0) memset(of, -1, static_cast<size_t>(cpus_) * sizeof(int16_t));
  const int number = count_[layer];
  Object object{static_cast<int16_t>(cpus.first()), static_cast<int16_t>(cpus.count()), 0, 0, -1, 0, false};
  for (int cpu = object.lowest; cpu >= 0 && cpu < numbers_; cpu = cpus.next(cpu + 1)) {
    const int16_t rank = rank_[cpu];
    if (rank < 0) continue;
    if (of[rank] >= 0) return false;
    if (object.size++ == 0) object.leader = rank;
    of[rank] = static_cast<int16_t>(number);
  }
  if (object.size == 0) return false;
  objects(layer)[number] = object;
  ++count_[layer];
  return true;
}

void TopologyLayers::look_beside(int layer, int other) {
  const int16_t* of = objects_of(layer);
  const int16_t* of_other = objects_of(other);
  for (int i = 0; i < count_[layer]; ++i) {
    Object& object = objects(layer)[i];
    object.beside = of_other[object.leader];
    object.mixed = false;
  }
  for (int rank = 0; rank < cpus_; ++rank) {
    if (of[rank] < 0) continue;
    Object& object = objects(layer)[of[rank]];
    object.mixed |= object.beside != of_other[rank];
  }
}

// Two objects with a CPU in common cross if each also has a CPU that the other does not have: then both are `mixed`.
bool TopologyLayers::crosses(int layer, int other) {
  look_beside(layer, other);
  look_beside(other, layer);
  for (int rank = 0; rank < cpus_; ++rank) {
    const int a = object_of(layer, rank), b = object_of(other, rank);
    if (a >= 0 && b >= 0 && objects(layer)[a].mixed && objects(other)[b].mixed) return true;
  }
  return false;
}

bool TopologyLayers::nested() {
  for (int layer = 0; layer < layers_; ++layer) {
    for (int other = 0; other < layer; ++other) {
      if (count_[layer] > 0 && count_[other] > 0 && crosses(layer, other)) return false;
    }
  }
  return true;
}

// The key of the outermost node of the tree that contains one CPU and not the other: the two CPUs' nodes are then
// children of the same node. hwloc sorts children by their lowest CPU, allowed or not. Several layers may have this
// node: then the largest object, which has the lowest CPU, is used.
int TopologyLayers::key(int rank, int other) const {
  int size = 1, lowest = cpu_[rank], leader = rank;
  for (int layer = 0; layer < layers_; ++layer) {
    if (count_[layer] == 0) continue;
    const int16_t* of = objects_of(layer);
    if (of[rank] < 0 || of[rank] == of[other]) continue;
    const Object& object = objects(layer)[of[rank]];
    if (object.size < size) continue;
    lowest = object.size > size ? object.lowest : std::min<int>(lowest, object.lowest);
    leader = object.leader;
    size = object.size;
  }
  return lowest * CpuMask::kCpus + leader;  // objects may overlap in CPUs that are not allowed; the leaders differ
}

bool TopologyLayers::precedes(int rank, int other) const {
  return rank != other && key(rank, other) < key(other, rank);
}

void TopologyLayers::sort() {
  for (int i = 0; i < cpus_; ++i) order_[i] = static_cast<int16_t>(i);
  std::sort(order_, order_ + cpus_, [this](int a, int b) { return precedes(a, b); });
  for (int i = 0; i < cpus_; ++i) {
    for (int layer = 0; layer < layers_; ++layer) {
      const int number = count_[layer] > 0 ? object_of(layer, order_[i]) : -1;
      if (number >= 0 && objects(layer)[number].begin < 0) objects(layer)[number].begin = static_cast<int16_t>(i);
    }
  }
}

CpuMask TopologyLayers::mask(Span span) const {
  CpuMask result;
  for (int i = span.begin; i < span.begin + span.size; ++i) result.set(cpu_[order_[i]]);
  return result;
}

bool TopologyLayers::list(int layer, MaskList& result) const {
  if (layer < 0 || count_[layer] == 0) return result.append(mask({0, static_cast<int16_t>(cpus_)}));
  for (int i = 0; i < cpus_; ++i) {
    const int number = object_of(layer, order_[i]);
    if (number < 0 || objects(layer)[number].begin != i) continue;
    if (!result.append(mask({static_cast<int16_t>(i), objects(layer)[number].size}))) return false;
  }
  return true;
}

bool TopologyLayers::list_cpus(MaskList& result) const {
  for (int i = 0; i < cpus_; ++i) {
    if (!result.append(mask({static_cast<int16_t>(i), 1}))) return false;
  }
  return true;
}

int TopologyLayers::position(int layer, int object) const {
  int result = 0;
  for (int i = 0; i < count_[layer]; ++i) {
    if (objects(layer)[i].begin < objects(layer)[object].begin) ++result;
  }
  return result;
}

int TopologyLayers::all_spans(Span* result) const {
  int count = 0;
  result[count++] = {0, static_cast<int16_t>(cpus_)};
  for (int layer = 0; layer < layers_; ++layer) {
    for (int i = 0; i < count_[layer]; ++i) result[count++] = {objects(layer)[i].begin, objects(layer)[i].size};
  }
  return count;
}

bool TopologyLayers::list_groups(MaskList& result) const {
  size_t most = 1;
  for (const int count : count_) most += static_cast<size_t>(count);
  auto* spans = static_cast<Span*>(malloc(most * sizeof(Span)));
  if (spans == nullptr) return false;
  const int count = all_spans(spans);
  std::sort(spans, spans + count,
            [](Span a, Span b) { return a.size != b.size ? a.size > b.size : a.begin < b.begin; });
  bool good = true;
  for (int i = 0; i < count && spans[i].size >= 2 && good; ++i) {
    const bool again = i > 0 && spans[i].begin == spans[i - 1].begin && spans[i].size == spans[i - 1].size;
    good = again || result.append(mask(spans[i]));
  }
  free(spans);
  return good;
}

}  // namespace marline
