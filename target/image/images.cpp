// SPDX-License-Identifier: Apache-2.0
//
// See the header. Entries are kept in a hash table by address that is replaced when it gets full; readers may still use
// the old one, which therefore stays (half as large as the next, so all of them take no more than the newest).
#include "image/images.hpp"

#include "base/lock.hpp"
#include "base/report.hpp"
#include "image/wire.hpp"

#include <elf.h>

#include <cstdlib>
#include <cstring>

namespace marline::target {

namespace {

// As the compiler writes them.
struct OldEntry {  // up to 19
  void* address;
  const char* name;
  size_t size;
  int32_t flags;
  int32_t data;
};
struct NewEntry {  // from 20 on
  uint64_t reserved;
  uint16_t version;
  uint16_t kind;
  uint32_t flags;
  void* address;
  const char* name;
  uint64_t size;
  uint64_t data;
  void* auxiliary;
};
static_assert(sizeof(OldEntry) == 32 && sizeof(NewEntry) == 56);
struct OffloadBinary {  // around each image in 16
  uint8_t magic[4];
  uint32_t version;
  uint64_t size;
  uint64_t entry_offset;
  uint64_t entry_size;
};
struct OffloadBinaryEntry {
  uint16_t image_kind;
  uint16_t offload_kind;
  uint32_t flags;
  uint64_t string_offset;
  uint64_t string_count;
  uint64_t image_offset;
  uint64_t image_size;
};
constexpr uint8_t kOffloadMagic[4] = {0x10, 0xff, 0x10, 0xad};

#ifdef __x86_64__
constexpr uint16_t kThisMachine = EM_X86_64;
#else
constexpr uint16_t kThisMachine = EM_AARCH64;
#endif

struct Table {
  uint32_t capacity;  // a power of two
  uint32_t used;
  std::atomic<Entry*> slots[];
};

Lock g_lock;                              // over registration
std::atomic<Table*> g_table{nullptr};     // released by the registering thread, acquired by readers
std::atomic<Module*> g_newest{nullptr};   // likewise
std::atomic<uint32_t> g_count{0};

uint32_t slot_of(const Table* table, const void* host) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(host) * 0x9e3779b97f4a7c15u) >> 32) & (table->capacity - 1);
}

void put(Table* table, Entry* entry) {
  uint32_t at = slot_of(table, entry->host);
  while (table->slots[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) & (table->capacity - 1);
  table->slots[at].store(entry, std::memory_order_release);  // pairs with find_entry
  ++table->used;
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
    if (entry != nullptr && !entry->module->gone) put(table, entry);
  }
  g_table.store(table, std::memory_order_release);  // pairs with find_entry
  return table;
}

// The ELF file in an image; empty if it is none.
Image elf_in(const WireImage& image) {
  Image found{image.begin, static_cast<size_t>(image.end - image.begin)};
  if (found.bytes >= sizeof(OffloadBinary) && std::memcmp(image.begin, kOffloadMagic, sizeof kOffloadMagic) == 0) {
    auto* header = reinterpret_cast<const OffloadBinary*>(image.begin);
    auto* entry = reinterpret_cast<const OffloadBinaryEntry*>(image.begin + header->entry_offset);
    found = {image.begin + entry->image_offset, entry->image_size};
  }
  bool is_elf = found.bytes >= sizeof(Elf64_Ehdr) && std::memcmp(found.begin, ELFMAG, SELFMAG) == 0;
  return is_elf ? found : Image{nullptr, 0};
}

bool is_native(const Image& image) {
  return image.begin != nullptr && reinterpret_cast<const Elf64_Ehdr*>(image.begin)->e_machine == kThisMachine;
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

// A new entry has a reserved word of 0, where an old one has the address of what it describes.
bool is_new(const char* entry) {
  auto* as_new = reinterpret_cast<const NewEntry*>(entry);
  return as_new->reserved == 0 && as_new->version == 1;
}

uint32_t entry_count(const WireDescriptor* descriptor) {
  auto bytes = static_cast<size_t>(descriptor->entries_end - descriptor->entries_begin);
  if (bytes == 0) return 0;
  return static_cast<uint32_t>(bytes / (is_new(descriptor->entries_begin) ? sizeof(NewEntry) : sizeof(OldEntry)));
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
}

}  // namespace

void register_images(const void* wire) {
  auto* descriptor = static_cast<const WireDescriptor*>(wire);
  auto* module = static_cast<Module*>(cleared(sizeof(Module)));
  module->descriptor = wire;
  module->count = entry_count(descriptor);
  module->entries = static_cast<Entry*>(cleared((module->count + 1) * sizeof(Entry)));
  take_images(module, descriptor);
  Guard guard(g_lock);
  Table* table = table_for(module->count);
  const char* at = descriptor->entries_begin;
  for (uint32_t i = 0; i < module->count; ++i) {
    take_entry(&module->entries[i], module, at);
    at += is_new(at) ? sizeof(NewEntry) : sizeof(OldEntry);
    if (module->entries[i].host != nullptr) put(table, &module->entries[i]);
  }
  module->next = g_newest.load(std::memory_order_relaxed);
  module->number = g_count.load(std::memory_order_relaxed) + 1;
  g_newest.store(module, std::memory_order_release);          // pairs with newest_module
  g_count.store(module->number, std::memory_order_release);   // pairs with registered_modules
}

// The module itself stays: a device may be about to look at it. What it says of the library's memory is not used again.
void unregister_images(const void* wire) {
  Guard guard(g_lock);
  for (Module* module = newest_module(); module != nullptr; module = module->next) {
    if (module->descriptor == wire) module->gone = true;
  }
}

uint32_t registered_modules() { return g_count.load(std::memory_order_acquire); }

Module* newest_module() { return g_newest.load(std::memory_order_acquire); }

void* foreign_descriptor(Module* module) {
  if (!module->has_foreign || module->foreign != nullptr) return module->foreign;
  auto* from = static_cast<const WireDescriptor*>(module->descriptor);
  auto* copy = static_cast<WireDescriptor*>(cleared(sizeof(WireDescriptor)));
  auto* images = static_cast<WireImage*>(cleared(static_cast<size_t>(from->image_count) * sizeof(WireImage)));
  *copy = *from;
  copy->images = images;
  copy->image_count = 0;
  for (int32_t i = 0; i < from->image_count; ++i) {
    if (!is_native(elf_in(from->images[i]))) images[copy->image_count++] = from->images[i];
  }
  module->foreign = copy;
  return copy;
}

bool have_foreign_image() {
  for (Module* module = newest_module(); module != nullptr; module = module->next) {
    if (!module->gone && module->has_foreign) return true;
  }
  return false;
}

bool have_native_image() {
  for (Module* module = newest_module(); module != nullptr; module = module->next) {
    if (!module->gone && module->native.begin != nullptr) return true;
  }
  return false;
}

const Entry* find_entry(const void* host) {
  const Table* table = g_table.load(std::memory_order_acquire);  // pairs with table_for
  if (table == nullptr) return nullptr;
  for (uint32_t at = slot_of(table, host);; at = (at + 1) & (table->capacity - 1)) {
    const Entry* entry = table->slots[at].load(std::memory_order_acquire);  // pairs with put
    if (entry == nullptr) return nullptr;
    if (entry->host == host && !entry->module->gone) return entry;
  }
}

}  // namespace marline::target
