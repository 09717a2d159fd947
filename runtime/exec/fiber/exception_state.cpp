// SPDX-License-Identifier: Apache-2.0
//
// Finds the exception state of a thread in the program's C++ runtime. Each worker saves and restores its own thread's
// state. The address of the C++ runtime's function is looked up once for all threads, and again after a library has
// been loaded or unloaded: in a program without a C++ runtime a look-up takes microseconds, and dlsym(3) allocates an
// error message that is never read.
#include "exec/fiber/exception_state.hpp"

#include <dlfcn.h>
#include <link.h>

namespace marline {

namespace {

using GetGlobals = ExceptionState* (*)();  // __cxa_eh_globals begins with these two members

struct LookedUp {
  // libraries_now() at the last look-up; 0: no look-up yet. Stored (release) after `get`, loaded (acquire) before it.
  Atomic<uint64_t> libraries{0};
  Atomic<GetGlobals> get{nullptr};
} g_looked_up;

// Changes whenever a library is loaded or unloaded, and is not 0: the loader counts both.
uint64_t libraries_now() {
  uint64_t now = 1;
  auto first = [](dl_phdr_info* info, size_t, void* result) {
    *static_cast<uint64_t*>(result) = (info->dlpi_adds << 32 | info->dlpi_subs) + 1;
    return 1;
  };
  dl_iterate_phdr(first, &now);
  return now;
}

GetGlobals look_up() {
  const uint64_t now = libraries_now();
  if (g_looked_up.libraries.load(acquire) == now) return g_looked_up.get.load(relaxed);
  auto get = reinterpret_cast<GetGlobals>(dlsym(RTLD_DEFAULT, "__cxa_get_globals"));
  g_looked_up.get.store(get, relaxed);
  g_looked_up.libraries.store(now, release);
  return get;
}

}  // namespace

void exception_state_look_up(Worker* worker) {
  if (worker->thread.exception_globals != nullptr) return;
  if (GetGlobals get = look_up()) worker->thread.exception_globals = get();
}

}  // namespace marline
