// SPDX-License-Identifier: Apache-2.0
//
// See the header. Entries are kept in a hash table by address that is replaced when it gets full; readers may still use
// the old one, which therefore stays (half as large as the next, so all of them take no more than the newest).
#include "image/images.hpp"

#include "base/forks.hpp"
#include "base/report.hpp"
#include "image/elf.hpp"
#include "image/wire.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

struct Table {
  uint32_t capacity;  // a power of two
  uint32_t used;
  std::atomic<Entry*> slots[];
};

Lock g_lock;                              // over all that follows, and see images_lock
std::atomic<Table*> g_table{nullptr};     // released by the registering thread, acquired by readers
std::atomic<Module*> g_first{nullptr}, g_first_gone{nullptr};    // likewise, as are the two next
std::atomic<Module*>* g_end = &g_first;   // where the next one is appended
std::atomic<Module*>* g_gone_end = &g_first_gone;
std::atomic<uint32_t> g_changes{0};
uint32_t g_count = 0;
const HeldAcrossForks g_held(g_lock, ForkOrder::kImages);

uint32_t slot_of(const Table* table, const void* host) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(host) * 0x9e3779b97f4a7c15u) >> 32) & (table->capacity - 1);
}

bool is_gone(const Module* module) { return module->gone.load(std::memory_order_relaxed); }

// Takes the place of an entry that is gone: a library that is opened again and again does not fill the table.
void put(Table* table, Entry* entry) {
  for (uint32_t at = slot_of(table, entry->host);; at = (at + 1) & (table->capacity - 1)) {
    Entry* there = table->slots[at].load(std::memory_order_relaxed);
    if (there != nullptr && !is_gone(there->module)) continue;
    if (there == nullptr) ++table->used;
    return table->slots[at].store(entry, std::memory_order_release);  // pairs with find_entry
  }
}

void* cleared(size_t bytes) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) fatal("no memory for the list of target regions (%zu bytes)", bytes);
  return memory;
}

// At most half full afterwards.
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

void take_images(Module* module, const WireDescriptor* descriptor) {
  for (int32_t i = 0; i < descriptor->image_count; ++i) {
    Image image = elf_in(descriptor->images[i]);
    if (is_native(image)) {
      module->native = image;
    } else {
      module->has_foreign = true;
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

Module* register_images(const void* wire) {
  auto* descriptor = static_cast<const WireDescriptor*>(wire);
  auto* module = static_cast<Module*>(cleared(sizeof(Module)));
  module->descriptor = wire;
  module->is_program = is_of_program(wire);
  module->count = entry_count(descriptor);
  module->entries = static_cast<Entry*>(cleared((module->count + 1) * sizeof(Entry)));
  take_images(module, descriptor);
  Guard guard(g_lock);
  Table* table = table_for(module->count);
  const char* at = descriptor->entries_begin;
  for (uint32_t i = 0; i < module->count; ++i) {
    take_entry(&module->entries[i], module, at);
    at += entry_bytes(at);
    if (module->entries[i].host != nullptr) put(table, &module->entries[i]);
  }
  module->number = ++g_count;
  g_end->store(module, std::memory_order_release);  // pairs with later_module
  g_end = &module->later;
  g_changes.fetch_add(1, std::memory_order_release);  // pairs with module_changes
  return module;
}

Module* unregister_images(const void* wire) {
  Guard guard(g_lock);
  Module* module = later_module(nullptr);
  while (module != nullptr && (is_gone(module) || module->descriptor != wire)) module = later_module(module);
  if (module == nullptr) return nullptr;
  module->gone.store(true, std::memory_order_relaxed);
  g_gone_end->store(module, std::memory_order_release);  // pairs with later_gone_module
  g_gone_end = &module->gone_later;
  g_changes.fetch_add(1, std::memory_order_release);  // pairs with module_changes
  return module;
}

Lock& images_lock() { return g_lock; }

uint32_t module_changes() { return g_changes.load(std::memory_order_acquire); }

Module* later_module(const Module* module) {
  return (module != nullptr ? module->later : g_first).load(std::memory_order_acquire);
}

Module* later_gone_module(const Module* module) {
  return (module != nullptr ? module->gone_later : g_first_gone).load(std::memory_order_acquire);
}

bool have_foreign_image() {
  for (Module* module = later_module(nullptr); module != nullptr; module = later_module(module)) {
    if (!is_gone(module) && module->has_foreign) return true;
  }
  return false;
}

bool have_native_image() {
  for (Module* module = later_module(nullptr); module != nullptr; module = later_module(module)) {
    if (!is_gone(module) && module->native.begin != nullptr) return true;
  }
  return false;
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

}  // namespace marline::target
