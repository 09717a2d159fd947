// SPDX-License-Identifier: Apache-2.0
//
// The set of profiles: a table that only grows, up to its capacity, which is far above the number of task constructs of
// a program. Beyond that, profiles are not learnt.
#include "graph/profile.hpp"

#include "base/hash.hpp"
#include "graph/lineage.hpp"

namespace marline {

namespace {

constexpr uint32_t kSlots = 1024;
constexpr uint32_t kProbes = 16;  // a profile that finds no slot among these is not learnt

Atomic<uint64_t> g_profiles[kSlots];  // 0: free. Written once, by a thread that notes a send.

// The slot of a profile: the one that has it (`*known`) or a free one; null: neither.
Atomic<uint64_t>* find(uint64_t profile, bool* known) {
  for (uint32_t i = 0; i < kProbes; ++i) {
    Atomic<uint64_t>& slot = g_profiles[(profile + i) % kSlots];
    uint64_t there = slot.load(relaxed);  // relaxed: no other data depends on the word
    *known = there == profile;
    if (*known || there == 0) return &slot;
  }
  *known = false;
  return nullptr;
}

}  // namespace

uint64_t profile_begin(const void* code, size_t block_bytes, uint32_t flags) {
  return mix64(reinterpret_cast<uintptr_t>(code) ^ mix64(block_bytes << 32 | flags));
}

bool profile_sends(Task* task, size_t dependences) {
  Lineage* lineage = lineage_of(task);
  lineage->profile = mix64(lineage->construct + dependences) | 1;  // not 0, which is a free slot
  bool known;
  find(lineage->profile, &known);
  return known;
}

void profile_note_send(Worker* worker) {
  Task* task = worker->task;
  if (task == nullptr || task->has(task_flag::kImplicit)) return;
  uint64_t profile = lineage_of(task)->profile;
  if (profile == 0) return;  // an undeferred task
  bool known;
  Atomic<uint64_t>* slot = find(profile, &known);
  uint64_t free = 0;
  // Another thread may take the slot first. If it stores another profile, this send is lost, and the next one is
  // stored.
  if (slot != nullptr && !known) slot->compare_exchange_strong(free, profile, relaxed);
}

}  // namespace marline
