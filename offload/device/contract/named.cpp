// SPDX-License-Identifier: Apache-2.0
//
// Stores the names in a table, by the number of the task's handle.
#include "device/contract/named.hpp"

#include "base/forks.hpp"
#include "base/id_table.hpp"

#include <atomic>

namespace marline::offload::device {

namespace {

struct Record {
  uint64_t number = 0;  // the number of the task's handle (number_of)
  List<Name> names;
};

std::atomic<bool> g_keeps{false};  // set when a kind of devices starts, before it has tasks; orders no other memory
Lock g_lock;                       // held briefly; each target task takes it twice, if names are kept
const HeldAcrossForks g_held(g_lock, ForkOrder::kNames);
IdTable<Record> g_records;  // as many as target tasks that are created and not run

// A handle is aligned to a cache line.
uint64_t number_of(const marline_claimed_t* task) { return reinterpret_cast<uint64_t>(task) / 64; }

bool lists_written(const marline_target_task_t& reported, List<Name>& to) {
  for (size_t i = 0; i < reported.dependence_count; ++i) {
    const marline_dependence_t& one = reported.dependences[i];
    if (one.address == nullptr) return false;  // omp_all_memory
    if (one.type != MARLINE_IN)
      to.push({one.address, reported.dependence_bytes != nullptr ? reported.dependence_bytes[i] : 0});
  }
  return reported.dependence_count != 0;
}

}  // namespace

void keep_names() { g_keeps.store(true, std::memory_order_relaxed); }
bool keeps_names() { return g_keeps.load(std::memory_order_relaxed); }

void note_names(const marline_target_task_t& reported) {
  List<Name> names;
  bool are_known = reported.in_graph == 0 && lists_written(reported, names);
  uint64_t number = number_of(reported.handle);
  Guard guard(g_lock);
  if (Record* old = g_records.find(number)) g_records.erase(old);
  if (are_known) g_records.add(number).names.swap(names);
}

bool take_names(const marline_claimed_t* task, Names& to) {
  if (task == nullptr) return false;
  Guard guard(g_lock);
  Record* record = g_records.find(number_of(task));
  if (record == nullptr) return false;
  for (const Name& name : record->names) to.push(name);
  g_records.erase(record);
  return true;
}

}  // namespace marline::offload::device
