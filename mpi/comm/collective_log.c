/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes and reads the log of collective calls.
 */
#include "comm/collective_log.h"

#include <stddef.h>

static CollectiveEntry* entry_of(CollectiveLog* log, uint64_t number) { return &log->entries[number % kLogEntries]; }

/* The oldest call before `number` that is in progress, of the calls that the log still has; `number` if there is
 * none. A call that has its number but not yet its entry begins at this moment, and is in progress. */
static uint64_t oldest_in_progress(CollectiveLog* log, uint64_t number) {
  uint64_t i = number < kLogEntries ? 1 : number - kLogEntries + 1;
  while (i < number) {
    CollectiveEntry* entry = entry_of(log, i);
    const uint64_t there = atomic_load_explicit(&entry->number, memory_order_acquire); /* pairs with begin's release */
    if (there < i || (there == i && atomic_load_explicit(&entry->in_progress, memory_order_relaxed))) break;
    ++i;
  }
  return i;
}

uint64_t collective_log_begin(CollectiveLog* log, const MpiCall* call, const void* site, uint64_t* oldest) {
  const uint64_t one_more = (UINT64_C(1) << kOpenBits) + 1;
  const uint64_t before = atomic_fetch_add_explicit(&log->begun_and_open, one_more, memory_order_relaxed);
  const uint64_t number = (before >> kOpenBits) + 1;
  const bool overlaps = (before & ((1U << kOpenBits) - 1)) != 0;
  *oldest = overlaps ? oldest_in_progress(log, number) : number;
  CollectiveEntry* entry = entry_of(log, number);
  atomic_store_explicit(&entry->number, 0, memory_order_relaxed);
  atomic_thread_fence(memory_order_release); /* pairs with the acquire fence of a reader that sees what follows */
  atomic_store_explicit(&entry->name, call->name, memory_order_relaxed);
  atomic_store_explicit(&entry->bytes, -1, memory_order_relaxed);
  atomic_store_explicit(&entry->site, site, memory_order_relaxed);
  atomic_store_explicit(&entry->root, call->peer, memory_order_relaxed);
  atomic_store_explicit(&entry->oldest, *oldest, memory_order_relaxed);
  atomic_store_explicit(&entry->in_progress, true, memory_order_relaxed);
  atomic_store_explicit(&entry->number, number, memory_order_release); /* pairs with the acquire of readers */
  return number;
}

/* Returns NULL for a call that has been in progress for so long that its entry was used again. */
static CollectiveEntry* own_entry(CollectiveLog* log, uint64_t number) {
  CollectiveEntry* entry = entry_of(log, number);
  return atomic_load_explicit(&entry->number, memory_order_relaxed) == number ? entry : NULL;
}

void collective_log_sized(CollectiveLog* log, uint64_t number, int64_t bytes) {
  CollectiveEntry* entry = own_entry(log, number);
  if (entry != NULL) atomic_store_explicit(&entry->bytes, bytes, memory_order_relaxed);
}

void collective_log_end(CollectiveLog* log, uint64_t number) {
  CollectiveEntry* entry = own_entry(log, number);
  if (entry != NULL) atomic_store_explicit(&entry->in_progress, false, memory_order_relaxed);
  atomic_fetch_sub_explicit(&log->begun_and_open, 1, memory_order_relaxed);
}

uint64_t collective_log_begun(const CollectiveLog* log) {
  return atomic_load_explicit(&log->begun_and_open, memory_order_relaxed) >> kOpenBits;
}

bool collective_log_read(const CollectiveLog* log, uint64_t number, LoggedCollective* record) {
  const CollectiveEntry* entry = &log->entries[number % kLogEntries];
  if (number == 0 || atomic_load_explicit(&entry->number, memory_order_acquire) != number) return false;
  *record = (LoggedCollective){
      .number = number,
      .name = atomic_load_explicit(&entry->name, memory_order_relaxed),
      .root = atomic_load_explicit(&entry->root, memory_order_relaxed),
      .bytes = atomic_load_explicit(&entry->bytes, memory_order_relaxed),
      .site = atomic_load_explicit(&entry->site, memory_order_relaxed),
      .oldest = atomic_load_explicit(&entry->oldest, memory_order_relaxed),
      .in_progress = atomic_load_explicit(&entry->in_progress, memory_order_relaxed),
  };
  atomic_thread_fence(memory_order_acquire); /* pairs with the release fence of the writer that came in between */
  return atomic_load_explicit(&entry->number, memory_order_relaxed) == number;
}
