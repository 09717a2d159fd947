// SPDX-License-Identifier: Apache-2.0
//
// Annotations of other tools as records. See the header. Everything but the cached functions belongs to the thread.
#include "annotations/annotations.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <string.h>

namespace marline::trace {
namespace {

constinit thread_local int in_other_tool __attribute__((tls_model("initial-exec"))) = 0;

// Set in a `found` that is no function: no library had it when so many libraries had been loaded.
constexpr u64 kNone = u64{1} << 63;

struct Object {
  int index;  // in: which one, in the order of loading
  ElfW(Addr) base;
  char path[PATH_MAX];  // empty: the program itself
};

int read_object(dl_phdr_info* info, size_t, void* argument) {
  auto& object = *static_cast<Object*>(argument);
  if (object.index-- > 0) return 0;
  object.base = info->dlpi_addr;
  object.path[0] = '\0';
  if (strlen(info->dlpi_name) < sizeof object.path) strcpy(object.path, info->dlpi_name);
  return 1;
}

int read_loads(dl_phdr_info* info, size_t, void* loads) {
  *static_cast<u64*>(loads) = info->dlpi_adds;
  return 1;
}

// How many objects the process has loaded. Each annotation asks this where no library has its function.
u64 loaded_so_far() {
  u64 loads = 0;
  dl_iterate_phdr(read_loads, &loads);
  return loads;
}

ElfW(Addr) base_of(void* address) {
  Dl_info info;
  return dladdr(address, &info) == 0 ? 0 : reinterpret_cast<ElfW(Addr)>(info.dli_fbase);
}

// The function in a library that was loaded with RTLD_LOCAL, for example by a plug-in that needs it: RTLD_NEXT does not
// see these. A library that has the function stays loaded, as its address is kept. dlopen must not be called while
// dl_iterate_phdr holds its lock, so each round asks for one path.
void* function_of_local_library(const char* name) {
  const ElfW(Addr) own = base_of(reinterpret_cast<void*>(&read_object));
  Object object;
  for (int i = 0;; ++i) {
    object.index = i;
    if (dl_iterate_phdr(read_object, &object) == 0) return nullptr;
    if (object.path[0] == '\0' || object.base == own) continue;
    void* library = dlopen(object.path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* function = dlsym(library, name);  // also in what the library needs, which may be the recorder
    if (function != nullptr && base_of(function) != own) return function;
    dlclose(library);
  }
}

}  // namespace

Stream* annotated_stream() {
  if (in_other_tool != 0) return nullptr;
  Stream* stream = Stream::mine();
  return stream != nullptr && wanted(kRegionEvents) ? stream : nullptr;
}

void begin_annotation(u64 group, const char* name, u64 color) {
  if (Stream* stream = annotated_stream()) {
    const u64 text = stream->intern(name);
    stream->begin_region({.text = text, .group = group, .color = color});
  }
}

void end_annotation(u64 group) {
  if (Stream* stream = annotated_stream()) stream->end_region(group);
}

// Threads that look a function up at the same time find the same one, so any order of loads and stores will do.
void* next_function(const char* name, void*& found) {
  void* known = __atomic_load_n(&found, __ATOMIC_RELAXED);
  const u64 state = reinterpret_cast<u64>(known);
  if (state != 0 && (state & kNone) == 0) return known;
  const u64 none = kNone | loaded_so_far();
  if (state == none) return nullptr;
  void* function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) function = function_of_local_library(name);
  __atomic_store_n(&found, function != nullptr ? function : reinterpret_cast<void*>(none), __ATOMIC_RELAXED);
  return function;
}

InOtherTool::InOtherTool() { ++in_other_tool; }
InOtherTool::~InOtherTool() { --in_other_tool; }

}  // namespace marline::trace
