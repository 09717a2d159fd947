// SPDX-License-Identifier: Apache-2.0
//
// Loads the library of devices, and keeps the open target data constructs. They are in a list, newest first, under a
// lock: there are few at a time, and each has just moved data, which takes longer than the search.
#include "construct/device/provider.hpp"

#include "../common/options.hpp"
#include "base/atomic.hpp"
#include "base/check.hpp"
#include "base/spin_lock.hpp"
#include "platform/device_pages.hpp"
#include "task/default_device.hpp"

#include <dlfcn.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

constexpr const char* kLibrary = "marline/libmarline-target.so";  // in a folder next to libmarline.so

struct TargetData {
  const Task* task;
  void* data;
  TargetData* next;
};

Atomic<const marline_device_provider_t*> g_provider{nullptr};  // set once, by the library's constructor
enum : int { kNotAsked, kNone, kNamed };
// Whether MARLINE_DEVICES names devices; released by the first thread that has loaded the library.
Atomic<int> g_asked{kNotAsked};
SpinLock g_data_lock;
TargetData* g_data = nullptr;

bool are_devices_named() {
  const char* text = trusted_variable("MARLINE_DEVICES");
  return !is_blank(text) && std::strcmp(text, "none") != 0 && std::strcmp(text, "auto") != 0;
}

// RTLD_GLOBAL: routines about devices look for the library's definitions (abi/omp/next_definition.cpp).
void load_library() {
  Dl_info own;
  char real[PATH_MAX];  // the loader may have found this library by its link in marline/compat
  if (dladdr(reinterpret_cast<const void*>(&load_devices), &own) == 0 || realpath(own.dli_fname, real) == nullptr) {
    return;
  }
  int folder = static_cast<int>(std::strrchr(real, '/') + 1 - real);
  char path[PATH_MAX];
  int length = std::snprintf(path, sizeof path, "%.*s%s", folder, real, kLibrary);
  if (length >= PATH_MAX) fatal("the path of %s has more than %d characters", kLibrary, PATH_MAX - 1);
  if (dlopen(path, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    fatal("MARLINE_DEVICES names devices, and their library cannot be loaded: %s", dlerror());
  }
}

}  // namespace

// Takes no lock: another thread may be inside dlopen, holding the loader's lock, and call this from a library's
// constructor. So several threads may load the library, which is the same one, and the first one to finish returns
// true.
bool load_devices() {
  if (g_asked.load(acquire) != kNotAsked) return false;  // pairs with the exchange below
  bool named = are_devices_named();
  if (named) load_library();
  int before = kNotAsked;
  (void)g_asked.compare_exchange_strong(before, named ? kNamed : kNone, acq_rel, acquire);  // pairs with the load above
  return named;
}

const marline_device_provider_t* device_provider() {
  load_devices();
  return g_asked.load(relaxed) == kNamed ? g_provider.load(acquire) : nullptr;  // pairs with provide_devices
}

bool provide_devices(const marline_device_provider_t* provider) {
  if (provider->bytes < sizeof *provider) return false;
  const marline_device_provider_t* none = nullptr;
  if (!g_provider.compare_exchange_strong(none, provider, acq_rel, relaxed))
    return false;  // pairs with device_provider
  set_default_device_chooser(provider->default_device);
  static DevicePages pages;
  pages = {provider->allocate_pinned, provider->release_pinned};
  set_device_pages(&pages);
  return true;
}

void push_target_data(const Task* task, void* data) {
  auto* open = static_cast<TargetData*>(std::malloc(sizeof(TargetData)));
  if (open == nullptr) fatal("no memory for a target data construct");
  Guard<SpinLock> guard(g_data_lock);
  *open = {task, data, g_data};
  g_data = open;
}

void* pop_target_data(const Task* task) {
  TargetData* found;
  {
    Guard<SpinLock> guard(g_data_lock);
    TargetData** at = &g_data;
    while (*at != nullptr && (*at)->task != task) at = &(*at)->next;
    found = *at;
    if (found != nullptr) *at = found->next;
  }
  void* data = found != nullptr ? found->data : nullptr;
  std::free(found);
  return data;
}

}  // namespace marline
