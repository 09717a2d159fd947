// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "face/dependences.hpp"

#include "base/array.hpp"

#include <cstddef>
#include <cstdint>

extern "C" {
int __kmpc_global_thread_num(void* ident);
void __kmpc_omp_wait_deps(void* ident, int thread, int count, void* list, int, void*);
}

namespace marline::target {

namespace {

// As Clang's code builds them; the entry in front of an object's first says how many it has (LLVM, kmp.h).
struct Dependence {
  uintptr_t address;
  size_t length;
  uint8_t flags;
};

}  // namespace

void wait_for_dependences(int count, void* list) {
  if (count > 0) __kmpc_omp_wait_deps(nullptr, __kmpc_global_thread_num(nullptr), count, list, 0, nullptr);
}

void wait_for_depend_objects(int count, void* const* objects) {
  Array<Dependence> list;
  for (int i = 0; i < count; ++i) {
    auto* object = static_cast<const Dependence*>(objects[i]);
    for (uintptr_t k = 0; object != nullptr && k < object[-1].address; ++k) list.push(object[k]);
  }
  wait_for_dependences(static_cast<int>(list.count()), list.begin());
}

}  // namespace marline::target
