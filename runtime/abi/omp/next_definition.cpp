// SPDX-License-Identifier: Apache-2.0
//
// Looks up device routines in libomptarget, and loads it if the program is to have devices.
#include "abi/omp/next_definition.hpp"

#include "construct/device/provider.hpp"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdio>
#include <cstring>

namespace marline {

namespace {

constexpr const char* kNode = "VERS1.0";

const void* library_of(const void* address) {
  Dl_info info;
  return dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

struct Path {
  char text[PATH_MAX];  // a copy: the loader frees its own when another thread closes the library
};

int note_libomptarget(dl_phdr_info* info, size_t, void* path) {
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* file = slash != nullptr ? slash + 1 : info->dlpi_name;
  if (std::strncmp(file, "libomptarget.so", std::strlen("libomptarget.so")) != 0) return 0;
  std::snprintf(static_cast<Path*>(path)->text, PATH_MAX, "%s", info->dlpi_name);
  return 1;
}

// Looks into a libomptarget that came with a library that the program has opened in a local scope, which other look-ups
// do not see. Its own references to OpenMP lead to Marline all the same.
void* in_local_libomptarget(const char* name) {
  Path path;
  if (dl_iterate_phdr(note_libomptarget, &path) == 0) return nullptr;
  void* library = dlopen(path.text, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return nullptr;
  void* found = dlvsym(library, name, kNode);
  dlclose(library);  // only takes back the reference that dlopen has added
  return found;
}

}  // namespace

// Looks up by libomptarget's version node. Definitions without a node match, too, but not the definitions of other
// OpenMP runtimes, which know no devices of libomptarget's (it loads libomp.so itself, to connect tools; that may be
// LLVM's). A preloaded Marline is before libomptarget in the loader's order; a Marline that is loaded by the name of
// another runtime may be after it.
static void* find_definition(const char* name) {
  static const char own = 0;
  if (void* found = dlvsym(RTLD_NEXT, name, kNode)) return found;
  void* found = dlvsym(RTLD_DEFAULT, name, kNode);
  if (found == nullptr || library_of(found) == library_of(&own)) found = in_local_libomptarget(name);
  return found != nullptr && library_of(found) != library_of(&own) ? found : nullptr;
}

// If no library in the process defines `name` and the program is to have devices, loads Marline's library of devices
// first.
void* next_definition(const char* name) {
  void* found = find_definition(name);
  return found == nullptr && load_devices() ? find_definition(name) : found;
}

}  // namespace marline
