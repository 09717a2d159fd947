// SPDX-License-Identifier: Apache-2.0
//
// Registers images and finds entries. Entries are in a hash table by address, which is replaced when it gets full.
// Readers may still use the old table, so it is never freed. It is half as large as the next one, so all old tables
// take no more than the newest.
#include "image/images.hpp"

#include "base/forks.hpp"
#include "base/intrusive_list.hpp"
#include "base/report.hpp"
#include "image/elf.hpp"
#include "image/compiler_layout.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace marline::offload::image {

namespace {

struct Table {
  uint32_t capacity;  // a power of two
  uint32_t used;
  std::atomic<Entry*> slots[];
};

Lock g_lock;                           // protects all variables that follow; see images_lock
std::atomic<Table*> g_table{nullptr};  // released by the registering thread, acquired by readers
IntrusiveList<Module> g_modules;       // the registered modules, by number
IntrusiveList<Module> g_gone;          // as many as libraries with images that the program has closed
std::atomic<uint32_t> g_changes{0};    // released after each change
uint32_t g_count = 0;
const HeldAcrossForks g_held(g_lock, ForkOrder::kImages);

uint32_t slot_of(const Table* table, const void* host) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(host) * 0x9e3779b97f4a7c15u) >> 32) & (table->capacity - 1);
}

bool is_gone(const Module* module) { return module->gone.load(std::memory_order_relaxed); }

// An image that a device has to unload.
struct GoneImage {
  GoneImage* next;
  uint64_t handle;
  uint32_t number;
};
IntrusiveList<GoneImage> g_gone_images[kMostDevices];  // as many as closed libraries, until the device is used next

// Reuses the slot of an entry that is gone: a library that is opened again and again does not fill the table.
void put(Table* table, Entry* entry) {
  for (uint32_t at = slot_of(table, entry->host);; at = (at + 1) & (table->capacity - 1)) {
    Entry* there = table->slots[at].load(std::memory_order_relaxed);
    if (there != nullptr && there != entry && !is_gone(there->module)) continue;
    if (there == nullptr) ++table->used;
    return table->slots[at].store(entry, std::memory_order_release);  // pairs with find_entry
  }
}

// Calls visit(version) for each version of Clang that the image names: compilers leave their names in the section
// .comment. An image without a name is that of an unknown version.
template <class Visit>
void for_compilers(const Image& image, Visit visit) {
  static constexpr char kName[] = "clang version ";
  const char* end = image.begin + image.bytes;
  for (const char* at = image.begin; at != nullptr && at < end;) {
    const void* found = memmem(at, static_cast<size_t>(end - at), kName, sizeof kName - 1);
    if (found == nullptr) return;
    at = static_cast<const char*>(found) + sizeof kName - 1;
    int version = 0;
    for (const char* digit = at; digit < end && *digit >= '0' && *digit <= '9' && version < 1000; ++digit) {
      version = 10 * version + (*digit - '0');
    }
    if (version > 0) visit(version);
  }
}

KernelsOf look_up_compiler(const Image& image) {
  bool is_18 = false, is_older = false;
  for_compilers(image, [&](int version) {
    is_18 = is_18 || version == 18;
    is_older = is_older || version == 16 || version == 17;
  });
  if (is_18 && is_older) {
    warn(
        "a program has target regions of Clang 18 and of Clang 16 or 17, which are called in different ways: its "
        "regions are called as Clang 18's; build all of it with one of them");
  }
  return is_18 ? KernelsOf::kClang18 : KernelsOf::kAnother;
}

void* cleared(size_t bytes) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) fatal("no memory for the list of target regions (%zu bytes)", bytes);
  return memory;
}

// Returns a table that is at most half full with `more` entries.
Table* table_for(uint32_t more) {
  Table* old = g_table.load(std::memory_order_relaxed);
  uint32_t wanted = 2 * ((old != nullptr ? old->used : 0) + more);
  if (old != nullptr && wanted <= old->capacity) return old;
  uint32_t capacity = 64;
  while (capacity < wanted) capacity *= 2;
  auto* table = static_cast<Table*>(cleared(sizeof(Table) + capacity * sizeof(std::atomic<Entry*>)));
  table->capacity = capacity;
  for (uint32_t i = 0; old != nullptr && i < old->capacity; ++i) {
    Entry* entry = old->slots[i].load(std::memory_order_relaxed);
    if (entry != nullptr && !is_gone(entry->module)) put(table, entry);
  }
  g_table.store(table, std::memory_order_release);  // pairs with find_entry
  return table;
}

// Whether an image for another architecture has a variable NAME_kernel_environment, which Clang has made for each
// kernel since version 18. One image may have kernels of several versions.
bool has_environment(const Module* module, const char* name) {
  static constexpr char kEnding[] = "_kernel_environment";
  const size_t length = std::strlen(name);
  char* variable = static_cast<char*>(cleared(length + sizeof kEnding));
  std::memcpy(variable, name, length);
  std::memcpy(variable + length, kEnding, sizeof kEnding);
  const auto* descriptor = static_cast<const WireDescriptor*>(module->descriptor);
  bool found = false;
  for (int32_t i = 0; i < descriptor->image_count && !found; ++i) {
    const Image image = elf_in(descriptor->images[i]);
    found = !is_native(image) && image.bytes != 0 &&
            memmem(image.begin, image.bytes, variable, length + sizeof kEnding) != nullptr;
  }
  std::free(variable);
  return found;
}

void take_images(Module* module, const WireDescriptor* descriptor) {
  for (int32_t i = 0; i < descriptor->image_count; ++i) {
    Image image = elf_in(descriptor->images[i]);
    if (is_native(image)) {
      module->native = image;
    } else {
      module->has_foreign = true;
      module->has_amds = module->has_amds || is_amds(image);
    }
  }
}

bool is_of_program(const void* address) {
  Dl_info info;
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return false;
  return map->l_prev == nullptr;
}

uint32_t entry_count(const WireDescriptor* descriptor) {
  auto bytes = static_cast<size_t>(descriptor->entries_end - descriptor->entries_begin);
  return bytes == 0 ? 0 : static_cast<uint32_t>(bytes / entry_bytes(descriptor->entries_begin));
}

const char* copy_of(const char* name) {
  size_t bytes = std::strlen(name) + 1;
  return static_cast<const char*>(std::memcpy(cleared(bytes), name, bytes));
}

void take_entry(Entry* entry, Module* module, const char* wire) {
  entry->module = module;
  if (is_new(wire)) {
    auto* from = reinterpret_cast<const NewEntry*>(wire);
    entry->host = from->address;
    entry->name = from->name;
    entry->size = from->size;
    entry->flags = from->flags;
    entry->data = static_cast<int64_t>(from->data);
  } else {
    auto* from = reinterpret_cast<const OldEntry*>(wire);
    entry->host = from->address;
    entry->name = from->name;
    entry->size = from->size;
    entry->flags = static_cast<uint32_t>(from->flags);
    entry->data = from->data;
  }
  if (entry->name != nullptr) entry->name = copy_of(entry->name);
}

}  // namespace

namespace {

Module* make_module(const WireDescriptor* wire) {
  check_descriptor(*wire);
  auto* module = static_cast<Module*>(cleared(sizeof(Module)));
  module->descriptor = wire;
  module->is_program = is_of_program(wire);
  module->count = entry_count(wire);
  module->entries = static_cast<Entry*>(cleared((module->count + 1) * sizeof(Entry)));
  take_images(module, wire);
  const char* at = wire->entries_begin;
  for (uint32_t i = 0; i < module->count; ++i) {
    take_entry(&module->entries[i], module, at);
    at += entry_bytes(at);
  }
  return module;
}

void free_module(Module* module) {
  for (uint32_t i = 0; i < module->count; ++i) {
    std::free(const_cast<char*>(module->entries[i].name));
    module->entries[i].code.free();
  }
  module->handles.free();
  std::free(module->entries);
  std::free(module);
}

bool is_same(const Entry& a, const Entry& b) {
  bool same_name = a.name == b.name || (a.name != nullptr && b.name != nullptr && std::strcmp(a.name, b.name) == 0);
  return same_name && a.host == b.host && a.size == b.size && a.flags == b.flags && a.data == b.data;
}

// Whether a library has been opened again, with the same entries at the same addresses. libomptarget keeps what it has
// of a module, so a module with images for libomptarget is always new.
bool comes_back(const Module* gone, const Module* module) {
  bool same = gone->descriptor == module->descriptor && gone->count == module->count && !gone->has_foreign &&
              !module->has_foreign && gone->is_program == module->is_program;
  for (uint32_t i = 0; same && i < module->count; ++i) same = is_same(gone->entries[i], module->entries[i]);
  return same;
}

// If `module` is of a library that was here before, returns the record of that library, with the new image, which no
// device has loaded. Null: the library was not here before.
Module* take_back(Module* module) {
  for (Module* known : g_gone) {
    if (!comes_back(known, module)) continue;
    g_gone.remove(known);
    known->native = module->native;
    known->kernels_of.store(KernelsOf::kNotLookedUp, std::memory_order_relaxed);
    for (uint32_t i = 0; i < known->count; ++i) known->entries[i].by_pointers.store(false, std::memory_order_relaxed);
    known->claimed.reset();
    known->settled.reset();
    return known;
  }
  return nullptr;
}

}  // namespace

// The record of a module is kept when its library is closed, because another thread may be reading it, and is used
// again for the same library. So opening and closing a library again and again takes no more memory, and the list has
// only the modules that are here now.
Module* register_images(const void* wire) {
  Module* module = make_module(static_cast<const WireDescriptor*>(wire));
  Guard guard(g_lock);
  if (Module* known = take_back(module)) {
    free_module(module);
    module = known;
  }
  Table* table = table_for(module->count);
  for (uint32_t i = 0; i < module->count; ++i) {
    Entry& entry = module->entries[i];
    if (entry.host != nullptr) put(table, &entry);
  }
  module->gone.store(false, std::memory_order_relaxed);
  module->number = ++g_count;
  g_modules.push(module);
  g_changes.fetch_add(1, std::memory_order_release);  // pairs with module_changes
  return module;
}

namespace {

void note_gone_images(Module* module) {
  for (int device = 0; device < kMostDevices; ++device) {
    uint64_t handle = module->handles.get(device);
    if (handle == 0) continue;
    auto* image = static_cast<GoneImage*>(cleared(sizeof(GoneImage)));
    *image = {nullptr, handle, module->number};
    g_gone_images[device].push_first(image);
  }
  module->handles.clear();
  for (uint32_t i = 0; i < module->count; ++i) module->entries[i].code.clear();
}

}  // namespace

Module* unregister_images(const void* wire) {
  Guard guard(g_lock);
  Module* module = g_modules.first();
  while (module != nullptr && module->descriptor != wire) module = module->next;
  if (module == nullptr) return nullptr;
  g_modules.remove(module);
  module->gone.store(true, std::memory_order_relaxed);
  note_gone_images(module);
  g_gone.push_first(module);
  g_changes.fetch_add(1, std::memory_order_release);  // pairs with module_changes
  return module;
}

Lock& images_lock() { return g_lock; }

uint32_t module_changes() { return g_changes.load(std::memory_order_acquire); }

Module* module_after(uint32_t number) {
  Guard guard(g_lock);
  Module* module = g_modules.first();
  while (module != nullptr && module->number <= number) module = module->next;
  return module;
}

Claim claim_module(int device) {
  auto number = static_cast<size_t>(device);
  Guard guard(g_lock);
  Claim claim = {nullptr, 0, true};
  for (Module* module : g_modules) {
    if (module->settled.test(number)) continue;
    if (!module->claimed.test(number)) {
      module->claimed.set(number);
      return {module, module->number, false};
    }
    if (claim.module == nullptr) claim = {module, module->number, true};
  }
  return claim;
}

bool settle_module(const Claim& claim, int device, uint64_t handle) {
  auto number = static_cast<size_t>(device);
  Module* module = claim.module;
  if (is_gone(module) || module->number != claim.number || module->settled.test(number)) return false;
  module->settled.set(number);
  module->handles.set(device, handle);
  return true;
}

void forget_claims() {
  for (Module* module : g_modules) module->claimed = module->settled;
}

bool take_gone_image(int device, uint64_t& handle, uint32_t& number) {
  Guard guard(g_lock);
  GoneImage* image = g_gone_images[device].pop();
  if (image == nullptr) return false;
  handle = image->handle;
  number = image->number;
  std::free(image);
  return true;
}

bool have_foreign_image() {
  Guard guard(g_lock);
  for (Module* module : g_modules) {
    if (module->has_foreign) return true;
  }
  return false;
}

bool have_amds_image() {
  Guard guard(g_lock);
  for (Module* module : g_modules) {
    if (module->has_amds) return true;
  }
  return false;
}

bool have_native_image() {
  Guard guard(g_lock);
  for (Module* module : g_modules) {
    if (module->native.begin != nullptr) return true;
  }
  return false;
}

// The answer is kept until the modules change.
int newest_compiler() {
  static uint32_t changes = 0;
  static int newest = 0;
  Guard guard(g_lock);
  if (changes == module_changes()) return newest;
  changes = module_changes();
  newest = 0;
  for (Module* module : g_modules) {
    for_compilers(module->native, [&](int version) { newest = std::max(newest, version); });
  }
  return newest;
}

bool is_of_clang_18(const Entry* kernel) {
  Module* module = kernel->module;
  if (module == nullptr) return false;
  KernelsOf known = module->kernels_of.load(std::memory_order_relaxed);
  if (known == KernelsOf::kNotLookedUp) {
    known = look_up_compiler(module->native);
    module->kernels_of.store(known, std::memory_order_relaxed);
  }
  return known == KernelsOf::kClang18;
}

uint32_t foreign_version(const void* id, uint32_t version) {
  if (version != 2) return version;
  const Entry* kernel = find_entry(id);
  if (kernel == nullptr || kernel->module == nullptr || kernel->name == nullptr) return version;
  auto known = kernel->environment.load(std::memory_order_relaxed);
  if (known == Environment::kNotLookedUp) {
    known = has_environment(kernel->module, kernel->name) ? Environment::kThere : Environment::kNone;
    kernel->environment.store(known, std::memory_order_relaxed);
  }
  return known == Environment::kThere ? 3 : version;
}

const Entry* find_entry(const void* host) {
  const Table* table = g_table.load(std::memory_order_acquire);  // pairs with table_for
  if (table == nullptr) return nullptr;
  for (uint32_t at = slot_of(table, host);; at = (at + 1) & (table->capacity - 1)) {
    const Entry* entry = table->slots[at].load(std::memory_order_acquire);  // pairs with put
    if (entry == nullptr) return nullptr;
    if (entry->host == host && !is_gone(entry->module)) return entry;
  }
}

}  // namespace marline::offload::image
