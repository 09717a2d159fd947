// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "abi/omp/next_definition.hpp"

#include <dlfcn.h>

namespace marline {

namespace {

const void* library_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

}  // namespace

// By libomptarget's version node: definitions without one match, too, but not those of other OpenMP runtimes, which know
// no devices of libomptarget's (it loads libomp.so itself, to connect tools). Preloaded, this library stands in front of
// libomptarget in the loader's order; reached by the name of another runtime, it may stand behind.
void* next_definition(const char* name) {
  static const char own = 0;
  constexpr const char* kNode = "VERS1.0";
  if (void* found = dlvsym(RTLD_NEXT, name, kNode)) return found;
  void* found = dlvsym(RTLD_DEFAULT, name, kNode);
  return found != nullptr && library_of(found) != library_of(&own) ? found : nullptr;
}

}  // namespace marline
