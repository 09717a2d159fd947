// SPDX-License-Identifier: Apache-2.0
//
// See the header. The copy is protected by a sequence number (a seqlock), as a handler must neither wait nor be waited
// for. Invariant: while `version` is odd, one thread writes the table; a reader that sees the same even number before
// and after has read one state of it. Its members are read and written atomically, as a reader may meet the writer.
#include "unwind/loaded_code.hpp"

#include <link.h>
#include <pthread.h>

namespace marline::trace {
namespace {

constexpr u32 kMost = 2048;  // pieces of executable memory; further ones are not found

LoadedCode table[kMost];  // by address
u32 count;
u32 version;
pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
unsigned long long seen_loads, seen_unloads;  // under writing

u64 load(const u64& from) { return __atomic_load_n(&from, __ATOMIC_RELAXED); }
void store(u64& to, u64 value) { __atomic_store_n(&to, value, __ATOMIC_RELAXED); }

LoadedCode load_entry(u32 index) {
  const LoadedCode& from = table[index];
  return {load(from.begin), load(from.end), load(from.frames)};
}

void store_entry(u32 index, const LoadedCode& value) {
  store(table[index].begin, value.begin);
  store(table[index].end, value.end);
  store(table[index].frames, value.frames);
}

// Keeps the table sorted.
void insert(const LoadedCode& fresh) {
  if (count == kMost) return;
  u32 at = count;
  for (; at > 0 && table[at - 1].begin > fresh.begin; --at) store_entry(at, table[at - 1]);
  store_entry(at, fresh);
  __atomic_store_n(&count, count + 1, __ATOMIC_RELAXED);
}

int add_object(dl_phdr_info* object, size_t, void*) {
  u64 frames = 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) frames = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const u64 begin = object->dlpi_addr + part.p_vaddr;
    insert({begin, begin + part.p_memsz, frames});
  }
  return 0;
}

// Returns 1, which ends the search after the first object: the numbers are those of all.
int has_changed(dl_phdr_info* object, size_t, void* changed) {
  *static_cast<bool*>(changed) = object->dlpi_adds != seen_loads || object->dlpi_subs != seen_unloads;
  seen_loads = object->dlpi_adds;
  seen_unloads = object->dlpi_subs;
  return 1;
}

}  // namespace

void refresh_loaded_code() {
  if (pthread_mutex_trylock(&writing) != 0) return;
  bool changed = false;
  dl_iterate_phdr(has_changed, &changed);
  if (changed) {
    __atomic_store_n(&version, version + 1, __ATOMIC_RELAXED);
    // Pairs with the fence of find_loaded_code: a reader that has seen a new entry sees the odd number, too.
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&count, 0, __ATOMIC_RELAXED);
    dl_iterate_phdr(add_object, nullptr);
    // Release: pairs with the acquire load of find_loaded_code, which then sees all entries.
    __atomic_store_n(&version, version + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&writing);
}

bool find_loaded_code(u64 address, LoadedCode& found) {
  const u32 before = __atomic_load_n(&version, __ATOMIC_ACQUIRE);  // pairs with the last store of refresh_loaded_code
  if (before % 2 != 0) return false;
  u32 low = 0;
  u32 high = __atomic_load_n(&count, __ATOMIC_RELAXED);
  while (low < high) {
    const u32 middle = (low + high) / 2;
    if (load(table[middle].begin) <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == 0) return false;
  found = load_entry(low - 1);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);  // pairs with the release fence of refresh_loaded_code
  return __atomic_load_n(&version, __ATOMIC_RELAXED) == before && address < found.end;
}

u32 loaded_code_version() { return __atomic_load_n(&version, __ATOMIC_RELAXED); }

}  // namespace marline::trace
