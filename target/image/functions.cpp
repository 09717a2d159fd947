// SPDX-License-Identifier: Apache-2.0
//
// See the header. Entries are in a hash table by address, under a lock: there are as many as the program has regions.
#include "image/functions.hpp"

#include "base/array.hpp"
#include "base/lock.hpp"
#include "base/report.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::target {

namespace {

constexpr size_t kNameBytes = 128;
constexpr uint32_t kBuckets = 256;

struct Function {
  Entry entry;
  Function* next;
  char name[kNameBytes];
};

Lock g_lock;
Function* g_buckets[kBuckets];
Lock g_modules_lock;
bool g_noted = false;
Array<uint64_t, 32> g_modules;  // load addresses

uint32_t bucket_of(const void* function) {
  auto address = reinterpret_cast<uint64_t>(function);
  return static_cast<uint32_t>((address >> 4) * 0x9e3779b97f4a7c15 >> 56);
}

// "FILE+0xOFFSET", which addr2line takes.
void name_function(Function* function, const void* code) {
  Dl_info info;
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) {
    std::snprintf(function->name, kNameBytes, "the target region at %p", code);
    return;
  }
  const char* slash = std::strrchr(info.dli_fname, '/');
  auto offset = reinterpret_cast<uint64_t>(code) - reinterpret_cast<uint64_t>(info.dli_fbase);
  std::snprintf(function->name, kNameBytes, "the target region at %.80s+%#lx",
                slash != nullptr ? slash + 1 : info.dli_fname, static_cast<unsigned long>(offset));
}

Function* make_function(const void* code) {
  auto* function = static_cast<Function*>(std::calloc(1, sizeof(Function)));
  if (function == nullptr) fatal("no memory for the list of target regions");
  name_function(function, code);
  function->entry.host = code;
  function->entry.name = function->name;
  for (auto& address : function->entry.code) {
    address.store(reinterpret_cast<uint64_t>(code), std::memory_order_relaxed);
  }
  return function;
}

int note_module(dl_phdr_info* info, size_t, void*) {
  g_modules.push(info->dlpi_addr);
  return 0;
}

}  // namespace

const Entry* entry_of_function(const void* function) {
  Function*& first = g_buckets[bucket_of(function)];
  Guard guard(g_lock);
  for (Function* known = first; known != nullptr; known = known->next) {
    if (known->entry.host == function) return &known->entry;
  }
  Function* made = make_function(function);
  made->next = first;
  first = made;
  return &made->entry;
}

void note_loaded_modules() {
  Guard guard(g_modules_lock);
  if (!g_noted) dl_iterate_phdr(note_module, nullptr);
  g_noted = true;
}

bool was_loaded(const void* address) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return false;
  Guard guard(g_modules_lock);
  for (uint64_t loaded : g_modules) {
    if (loaded == map->l_addr) return true;
  }
  return false;
}

}  // namespace marline::target
