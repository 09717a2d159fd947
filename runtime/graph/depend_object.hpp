// SPDX-License-Identifier: Apache-2.0
//
// A reusable list of dependences (marline_depend_create): one entry for each address, in the form that enter_graph
// reads. It never changes after its creation, so any number of threads may use it. The program owns it and must keep it
// until its last use.
#pragma once

#include "graph/dependences.hpp"

namespace marline {

struct DependObject {
  size_t count;
  [[nodiscard]] const Dependence* list() const { return reinterpret_cast<const Dependence*>(this + 1); }
};

// Merges entries of one address: if all have the same access, it stays; otherwise it becomes kOut. An omp_all_memory
// entry replaces all entries.
DependObject* depend_object_create(const Dependence* list, size_t count);
void depend_object_destroy(DependObject* object);

}  // namespace marline
