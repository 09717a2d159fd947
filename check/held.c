/* SPDX-License-Identifier: Apache-2.0
 *
 * The held locks are in a table of fixed size, divided by address into shards, each with its own lock. A shard is a
 * short unordered array: few locks are held at a time, however many locks the program has.
 */
#include "held.h"

#include "lock.h"

/* Locks that are held at a time. A lock with a full shard is not judged, but counted: the last line says how many. */
enum { kShards = 256, kPerShard = 32, kAddressShift = 3 };

typedef struct Shard {
  Lock lock;
  _Atomic int count; /* number of `entries` in use; written under the lock, read without it to skip an empty shard */
  Held entries[kPerShard];
} Shard;

static Shard shards[kShards];
static _Atomic long total; /* sum of all shards' counts; relaxed: a holder has counted its own lock */
static _Atomic unsigned long lost;

static Shard* shard_of(const void* lock) {
  const uint64_t spread = ((uint64_t)(uintptr_t)lock >> kAddressShift) * 0x9e3779b97f4a7c15ULL;
  return &shards[spread >> 56];
}

/* The lock's entry of this holder; else, if `of_any`, of another holder; else null. Called under the shard's lock. */
static Held* find(Shard* shard, const void* lock, uint64_t holder, int of_any) {
  Held* other = 0;
  const int count = atomic_load_explicit(&shard->count, memory_order_relaxed);
  for (Held* entry = shard->entries; entry < shard->entries + count; ++entry) {
    if (entry->lock == lock && entry->holder == holder) return entry;
    if (entry->lock == lock) other = entry;
  }
  return of_any ? other : 0;
}

void held_add(const Held* entry) {
  Shard* shard = shard_of(entry->lock);
  lock_take(&shard->lock);
  Held* known = find(shard, entry->lock, entry->holder, 0);
  const int count = atomic_load_explicit(&shard->count, memory_order_relaxed);
  if (known) {
    ++known->times;
  } else if (count < kPerShard) {
    shard->entries[count] = *entry;
    shard->entries[count].times = 1;
    atomic_store_explicit(&shard->count, count + 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&total, 1, memory_order_relaxed);
  } else {
    atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
  }
  lock_give(&shard->lock);
}

void held_remove(const void* lock, uint64_t holder) {
  Shard* shard = shard_of(lock);
  /* Relaxed is enough: a holder of the lock has seen its own entry, or got the lock from the holder that made the
   * entry. */
  if (atomic_load_explicit(&shard->count, memory_order_relaxed) == 0) return;
  lock_take(&shard->lock);
  Held* entry = find(shard, lock, holder, 1);
  if (entry && --entry->times == 0) {
    const int last = atomic_load_explicit(&shard->count, memory_order_relaxed) - 1;
    *entry = shard->entries[last];
    atomic_store_explicit(&shard->count, last, memory_order_relaxed);
    atomic_fetch_sub_explicit(&total, 1, memory_order_relaxed);
  }
  lock_give(&shard->lock);
}

bool held_any(void) { return atomic_load_explicit(&total, memory_order_relaxed) != 0; }

void held_set_waiting(uint64_t holder, int is_waiting) {
  for (Shard* shard = shards; shard < shards + kShards; ++shard) {
    if (atomic_load_explicit(&shard->count, memory_order_relaxed) == 0) continue;
    lock_take(&shard->lock);
    const int count = atomic_load_explicit(&shard->count, memory_order_relaxed);
    for (int i = 0; i < count; ++i) {
      if (shard->entries[i].holder == holder) shard->entries[i].is_waiting = is_waiting;
    }
    lock_give(&shard->lock);
  }
}

int held_by(uint64_t holder, Held* found, int most) {
  int known = 0;
  for (Shard* shard = shards; shard < shards + kShards && known < most; ++shard) {
    if (atomic_load_explicit(&shard->count, memory_order_relaxed) == 0) continue;
    lock_take(&shard->lock);
    const int count = atomic_load_explicit(&shard->count, memory_order_relaxed);
    for (int i = 0; i < count && known < most; ++i) {
      if (shard->entries[i].holder == holder) found[known++] = shard->entries[i];
    }
    lock_give(&shard->lock);
  }
  return known;
}

unsigned long held_lost(void) { return atomic_load_explicit(&lost, memory_order_relaxed); }
