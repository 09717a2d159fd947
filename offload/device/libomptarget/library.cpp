// SPDX-License-Identifier: Apache-2.0
//
// Searches for the library in the places where it may be, and checks that it can be used.
#include "device/libomptarget/library.hpp"

#include "../common/environment.h"
#include "base/options.hpp"
#include "base/report.hpp"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline::offload::device {

namespace {

void* g_library = nullptr;  // constant once the library is open
int g_count = 0;            // constant once the library's devices are counted
int g_version = 0;          // the library's LLVM version, constant once it is open; 0: its file name does not say

// Tried in this order: the versions that Marline has been tested with come first.
constexpr const char* kNames[] = {"libomptarget.so.19.1", "libomptarget.so.22.1", "libomptarget.so.16",
                                  "libomptarget.so", "libomptarget.so.23.1"};
constexpr int kNewest = 23;
constexpr const char* kNeeded[] = {"__tgt_target_kernel", "__tgt_target_nowait_query", "__tgt_register_lib"};

// Why the first library that exists cannot be used. Only the first thread that asks runs this code.
char g_refusal[512];

void note_refusal(const char* path, const char* lacks) {
  if (g_refusal[0] != '\0') return;
  if (lacks != nullptr) {
    std::snprintf(g_refusal, sizeof g_refusal, "%s has no %s", path, lacks);
  } else {
    std::snprintf(g_refusal, sizeof g_refusal, "%s", dlerror());
  }
}

// Whether the library only leads to this one, as the names of libomptarget in lib/marline/compat do.
bool leads_here(void* library) {
  static const char own = 0;
  Dl_info here, there;
  void* found = dlsym(library, "__tgt_register_lib");
  return found != nullptr && dladdr(found, &there) != 0 && dladdr(&own, &here) != 0 &&
         there.dli_fbase == here.dli_fbase;
}

void* open_if_usable(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) note_refusal(path, nullptr);
  if (library != nullptr && leads_here(library)) return nullptr;
  for (const char* name : kNeeded) {
    if (library == nullptr || dlsym(library, name) != nullptr) continue;
    note_refusal(path, name);
    library = nullptr;
  }
  return library;
}

// The version in the name of the file that the path leads to; 0: the name has none.
int version_of(const char* path) {
  char real[PATH_MAX];
  const char* name = realpath(path, real) != nullptr ? std::strrchr(real, '/') : nullptr;
  int version = 0;
  return name != nullptr && std::sscanf(name, "/libomptarget.so.%d", &version) == 1 ? version : 0;
}

void note_version(const char* path) {
  int version = g_version = version_of(path);
  if (version <= kNewest) return;
  warn(
      "%s is of LLVM %d, newer than Marline knows (%d); if target regions fail, give the path of an older one in "
      "MARLINE_LIBOMPTARGET",
      path, version, kNewest);
}

void* open_in(const char* folder, size_t length) {
  for (const char* name : kNames) {
    char path[PATH_MAX];
    int written = std::snprintf(path, sizeof path, "%.*s/%s", static_cast<int>(length), folder, name);
    struct stat status;
    if (written >= PATH_MAX || stat(path, &status) != 0) continue;
    void* library = open_if_usable(path);
    if (library == nullptr) continue;
    note_version(path);
    return library;
  }
  return nullptr;
}

void* open_in_list(const char* list) {
  while (list != nullptr && *list != '\0') {
    size_t length = std::strcspn(list, ":");
    if (void* library = length != 0 ? open_in(list, length) : nullptr) return library;
    list += length + (list[length] == ':');
  }
  return nullptr;
}

// Opens the library in the folders of Debian's packages.
void* open_where_packages_are() {
  glob_t found;
  void* library = nullptr;
  if (glob("/usr/lib/llvm-*/lib", 0, nullptr, &found) != 0) return nullptr;
  for (size_t i = 0; i < found.gl_pathc && library == nullptr; ++i) {
    library = open_in(found.gl_pathv[i], std::strlen(found.gl_pathv[i]));
  }
  globfree(&found);
  return library;
}

}  // namespace

// Adds the reason if a library exists.
static const char* explained(const char* what) {
  static char text[sizeof g_refusal + 128];
  if (g_refusal[0] == '\0') return what;
  std::snprintf(text, sizeof text, "%s: %s", what, g_refusal);
  return text;
}

int llvm_version() { return g_version; }

void note_llvm_count(int count) { g_count = count; }
int llvm_host_number() { return g_count; }

bool open_llvm_library(const char** why) {
  // LLVM's library and its drivers load and write the files that environment variables name.
  if (environment_is_foreign()) {
    *why = "the program has rights that its user does not have: LLVM's libomptarget is not loaded";
    return false;
  }
  // After this number of unsuccessful queries, libomptarget would block the calling thread, which polls all hooks.
  setenv("OMPTARGET_QUERY_COUNT_MAX", "0", 0);
  if (const char* path = option_value(Option::kLibrary)) {
    g_library = open_if_usable(path);
    if (g_library != nullptr) note_version(path);
    *why = explained("MARLINE_LIBOMPTARGET names no libomptarget of LLVM 16 or later");
    return g_library != nullptr;
  }
  g_library = open_in_list(trusted_variable("LD_LIBRARY_PATH"));
  if (g_library == nullptr) g_library = open_where_packages_are();
  *why = explained(g_refusal[0] == '\0' ? "LLVM's libomptarget (16 or later) is neither in LD_LIBRARY_PATH nor in "
                                          "/usr/lib/llvm-*/lib; give its path in MARLINE_LIBOMPTARGET"
                                        : "LLVM's libomptarget (16 or later) cannot be loaded");
  return g_library != nullptr;
}

// dlsym also searches the libraries that libomptarget needs, such as the runtime, whose routines of the same name would
// lead back to ours.
void* llvm_routine(const char* name) {
  void* found = dlsym(g_library, name);
  Dl_info own, other;
  bool is_its_own = found != nullptr && dladdr(dlsym(g_library, "__tgt_target_kernel"), &own) != 0 &&
                    dladdr(found, &other) != 0 && own.dli_fbase == other.dli_fbase;
  return is_its_own ? found : nullptr;
}

}  // namespace marline::offload::device
