// SPDX-License-Identifier: Apache-2.0
//
// See the header. PAPI takes only callers of its own major and minor version, and says neither before it is
// initialised. PAPI_library_init refuses a wrong number before it does anything, so the known ones are tried, the
// newest first.
#include "kernel/papi.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

namespace marline::trace {
namespace {

constexpr struct {
  int major, minor;
} kVersions[] = {{7, 3}, {7, 2}, {7, 1}, {7, 0}, {6, 0}, {5, 7}, {5, 6}, {5, 5}};

constexpr int in_papi(int major, int minor) { return major << 24 | minor << 16; }

// libpapi.so comes with the headers; the other names are those of the library itself.
void* open_library() {
  if (void* found = dlopen("libpapi.so", RTLD_NOW | RTLD_LOCAL)) return found;
  for (const auto& version : kVersions) {
    char name[32];
    snprintf(name, sizeof name, "libpapi.so.%d.%d", version.major, version.minor);
    if (void* found = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return nullptr;
}

unsigned long self() { return static_cast<unsigned long>(pthread_self()); }

}  // namespace

const char* Papi::load() {
  static char reason[160];
  void* library = open_library();
  if (library == nullptr) return "libpapi is not found";
  const struct {
    const char* name;
    void* function;
  } functions[] = {{"PAPI_library_init", &library_init},
                   {"PAPI_thread_init", &thread_init},
                   {"PAPI_unregister_thread", &unregister_thread},
                   {"PAPI_create_eventset", &create_eventset},
                   {"PAPI_event_name_to_code", &event_name_to_code},
                   {"PAPI_add_event", &add_event},
                   {"PAPI_start", &start},
                   {"PAPI_read", &read},
                   {"PAPI_stop", &stop},
                   {"PAPI_cleanup_eventset", &cleanup_eventset},
                   {"PAPI_destroy_eventset", &destroy_eventset},
                   {"PAPI_strerror", &strerror}};
  for (const auto& one : functions) {
    void* address = dlsym(library, one.name);
    if (address == nullptr) {
      snprintf(reason, sizeof reason, "the libpapi that was found has no %s", one.name);
      return reason;
    }
    memcpy(one.function, &address, sizeof address);
  }
  int result = kWrongVersion;
  for (const auto& version : kVersions) {
    if (result != kWrongVersion) break;
    result = library_init(in_papi(version.major, version.minor));
  }
  if (result > 0) result = thread_init(self);
  if (result == kOk) return nullptr;
  snprintf(reason, sizeof reason, "the libpapi that was found cannot be initialised, or is older than 5.5 (%s)",
           strerror(result));
  return reason;
}

}  // namespace marline::trace
