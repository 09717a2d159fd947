// SPDX-License-Identifier: Apache-2.0
//
// Entries are in a hash table by address, under a lock; there are as many as the program has regions. When the loader's
// count of closed modules has changed, the closed ones are removed from the list: another module may be at their
// address then, or the same one, loaded again. The loader's list is in the order of loading, and this library is never
// closed, so if a module was before this library in the list and is after it now, the module has been loaded again.
#include "image/functions.hpp"

#include "base/make.hpp"
#include "base/list.hpp"
#include "base/forks.hpp"
#include "base/id_table.hpp"
#include "base/lock.hpp"
#include "base/report.hpp"
#include "image/loader.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::image {

namespace {

constexpr size_t kNameBytes = 128;

struct Function {
  Entry entry;
  char name[kNameBytes];
};

struct LoadedModule {
  uint64_t address;
  dev_t device;
  ino_t inode;
  bool is_early;  // before this library in the loader's list
  bool is_there;
};

Lock g_lock;                                                   // held for one look-up
PointerTable<Function>& g_functions = make_table<Function>();  // by address; as many as the program has regions
Lock g_modules_lock;                                           // guards the variables below
bool g_noted = false;
uint64_t g_unloads = 0;            // the loader's count of closed modules at the last check
List<LoadedModule, 32> g_modules;  // that were loaded with this library; a look-up walks over all
const HeldAcrossForks g_functions_held(g_lock, ForkOrder::kFunctions),
    g_modules_held(g_modules_lock, ForkOrder::kModules);

// Names the function "FILE+0xOFFSET", which addr2line accepts.
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
  auto* function = make_array<Function>("the list of target regions", 1);
  name_function(function, code);
  function->entry.host = code;
  function->entry.name = function->name;
  return function;
}

LoadedModule describe(const dl_phdr_info* info, bool& after) {
  LoadedModule module = {info->dlpi_addr, 0, 0, !after, true};
  bool is_program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
  struct stat status;
  if (stat(is_program ? "/proc/self/exe" : info->dlpi_name, &status) == 0) {
    module.device = status.st_dev;
    module.inode = status.st_ino;
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    uint64_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, own = reinterpret_cast<uint64_t>(&g_noted);
    after |= info->dlpi_phdr[i].p_type == PT_LOAD && own >= begin && own - begin < info->dlpi_phdr[i].p_memsz;
  }
  return module;
}

int note_module(dl_phdr_info* info, size_t, void* after) {
  g_modules.push(describe(info, *static_cast<bool*>(after)));
  g_unloads = info->dlpi_subs;
  return 0;
}

int recognize_module(dl_phdr_info* info, size_t, void* after) {
  LoadedModule found = describe(info, *static_cast<bool*>(after));
  for (LoadedModule& known : g_modules) {
    bool is_same = known.address == found.address && known.device == found.device && known.inode == found.inode;
    if (is_same && known.is_early == found.is_early) known.is_there = true;
  }
  return 0;
}

int take_unloads(dl_phdr_info* info, size_t, void* unloads) {
  *static_cast<uint64_t*>(unloads) = info->dlpi_subs;
  return 1;
}

struct Searched {
  uint64_t address;
  uint64_t module;
};

int find_module(dl_phdr_info* info, size_t, void* data) {
  auto* searched = static_cast<Searched*>(data);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    uint64_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type != PT_LOAD || searched->address - begin >= info->dlpi_phdr[i].p_memsz) continue;
    searched->module = info->dlpi_addr;
    return 1;
  }
  return 0;
}

// Called with g_modules_lock held.
void drop_closed_modules() {
  uint64_t unloads = 0;
  visit_modules(take_unloads, &unloads);
  if (unloads == g_unloads) return;
  g_unloads = unloads;
  for (LoadedModule& module : g_modules) module.is_there = false;
  bool after = false;
  visit_modules(recognize_module, &after);
  uint32_t kept = 0;
  for (const LoadedModule& module : g_modules) {
    if (module.is_there) g_modules[kept++] = module;
  }
  g_modules.shrink(kept);
}

}  // namespace

const Entry* entry_of_function(const void* function) {
  auto address = reinterpret_cast<uint64_t>(function);
  {
    Guard guard(g_lock);
    if (Function* known = g_functions.find(address)) return &known->entry;
  }
  Function* made = make_function(function);  // without g_lock: naming the function takes the loader's lock
  Guard guard(g_lock);
  if (Function* known = g_functions.find(address)) {
    std::free(made);
    return &known->entry;
  }
  g_functions.add(address, made);
  return &made->entry;
}

void note_loaded_modules() {
  Guard guard(g_modules_lock);
  bool after = false;
  if (!g_noted) visit_modules(note_module, &after);
  g_noted = true;
}

bool was_loaded(const void* address) {
  Searched searched = {reinterpret_cast<uint64_t>(address), 0};
  if (visit_modules(find_module, &searched) == 0) return false;  // not dladdr: it takes the loader's lock
  Guard guard(g_modules_lock);
  drop_closed_modules();
  for (const LoadedModule& module : g_modules) {
    if (module.address == searched.module) return true;
  }
  return false;
}

}  // namespace marline::offload::image
