// SPDX-License-Identifier: Apache-2.0
//
// Merges the entries of a dependence list that have the same address. A temporary table from addresses to indices finds
// them.
#include "graph/depend_object.hpp"

#include "base/check.hpp"
#include "base/hash.hpp"

#include <bit>
#include <cstdlib>

namespace marline {

namespace {

// Hash table of indices into the filtered list, plus one; 0: free slot. Open addressing, at most half full.
class Places {
 public:
  explicit Places(size_t entries)
      : mask_(std::bit_ceil(entries * 2 + 1) - 1),
        places_(static_cast<size_t*>(std::calloc(mask_ + 1, sizeof(size_t)))) {
    if (places_ == nullptr) fatal("no memory to filter %zu dependences", entries);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  ~Places() { std::free(places_); }

  size_t& find(const Dependence* list, const void* address) {
    size_t slot = mix64(reinterpret_cast<uintptr_t>(address)) & mask_;
    while (places_[slot] != 0 && list[places_[slot] - 1].address != address) slot = (slot + 1) & mask_;
    return places_[slot];
  }

 private:
  size_t mask_;
  size_t* places_;
};

bool is_all_memory(const Dependence& entry) { return entry.address == nullptr && entry.access == Access::kOut; }

size_t filter(Dependence* kept, const Dependence* list, size_t count) {
  Places places(count);
  size_t n = 0;
  for (size_t i = 0; i < count; ++i) {
    if (is_all_memory(list[i])) {
      kept[0] = list[i];
      return 1;
    }
    size_t& place = places.find(kept, list[i].address);
    if (place == 0) {
      kept[n++] = list[i];
      place = n;
    } else if (kept[place - 1].access != list[i].access) {
      kept[place - 1].access = Access::kOut;
    }
  }
  return n;
}

}  // namespace

DependObject* depend_object_create(const Dependence* list, size_t count) {
  auto* object = static_cast<DependObject*>(std::malloc(sizeof(DependObject) + count * sizeof(Dependence)));
  if (object == nullptr) fatal("no memory for an object of %zu dependences", count);
  object->count = filter(reinterpret_cast<Dependence*>(object + 1), list, count);
  return object;
}

void depend_object_destroy(DependObject* object) { std::free(object); }

}  // namespace marline
