// SPDX-License-Identifier: Apache-2.0
//
// The hash table of the communicators that were made.
#include "mpi/made.hpp"

#include <stdlib.h>

namespace marline::trace {
namespace {

constexpr uint64_t kFirstSize = 64;

}  // namespace

void MadeBefore::link(Made* entry) {
  Made** bucket = bucket_of(entry->key);
  entry->next = *bucket;
  entry->previous = nullptr;
  if (entry->next != nullptr) {
    entry->next->previous = entry;
  }
  *bucket = entry;
}

// Keeps at least as many buckets as entries.
bool MadeBefore::grow() {
  const uint64_t old_size = size_;
  const uint64_t size = old_size == 0 ? kFirstSize : 2 * old_size;
  auto* fresh = static_cast<Made**>(calloc(size, sizeof(Made*)));
  if (fresh == nullptr) {
    return false;
  }
  Made** old = buckets_;
  buckets_ = fresh;
  size_ = size;
  for (uint64_t i = 0; i < old_size; ++i) {
    for (Made* entry = old[i]; entry != nullptr;) {
      Made* next = entry->next;
      link(entry);
      entry = next;
    }
  }
  free(old);
  return true;
}

uint64_t MadeBefore::count(uint64_t key, Made** siblings) {
  if (used_ == size_ && !grow()) {
    return 0;
  }
  for (Made* entry = *bucket_of(key); entry != nullptr; entry = entry->next) {
    if (entry->key == key) {
      return ++entry->count;
    }
  }
  auto* fresh = static_cast<Made*>(malloc(sizeof(Made)));
  if (fresh == nullptr) {
    return 0;
  }
  *fresh = {nullptr, nullptr, siblings == nullptr ? nullptr : *siblings, key, 1};
  link(fresh);
  if (siblings != nullptr) {
    *siblings = fresh;
  }
  ++used_;
  return 1;
}

void MadeBefore::forget(Made* siblings) {
  while (siblings != nullptr) {
    Made* entry = siblings;
    siblings = entry->sibling;
    if (entry->next != nullptr) {
      entry->next->previous = entry->previous;
    }
    (entry->previous != nullptr ? entry->previous->next : *bucket_of(entry->key)) = entry->next;
    free(entry);
    --used_;
  }
}

}  // namespace marline::trace
