// SPDX-License-Identifier: Apache-2.0
//
// Objects from the heap, without operator new. Without memory the program ends with a line that says what for.
#pragma once

#include "base/report.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace marline::offload {

// T{arguments...}. The caller frees it by destroy, or by std::free if it has nothing to destroy.
template <class T, class... Arguments>
[[nodiscard]] T* make(const char* what, Arguments&&... arguments) {
  void* memory = std::malloc(sizeof(T));
  if (memory == nullptr) fatal("no memory for %s", what);
  return new (memory) T{std::forward<Arguments>(arguments)...};
}

// `count` objects whose bytes are all 0, for types without a constructor. To be freed by std::free; never null.
template <class T>
[[nodiscard]] T* make_array(const char* what, size_t count) {
  void* memory = std::calloc(count != 0 ? count : 1, sizeof(T));
  if (memory == nullptr) fatal("no memory for %s", what);
  return static_cast<T*>(memory);
}

template <class T>
void destroy(T* object) {
  object->~T();
  std::free(object);
}

}  // namespace marline::offload
