// SPDX-License-Identifier: Apache-2.0
//
// Creates shared queues and the order of stealing, and serves the queues.
#include "sched/locality.hpp"

#include "base/check.hpp"
#include "sched/idle.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline {

namespace {

constexpr int kAffinityAt = static_cast<int>(QueueClass::kAffinity);

template <class T>
T* allocate(size_t count) {
  if (count == 0) return nullptr;
  const size_t bytes = (sizeof(T) * count + kCacheLine - 1) / kCacheLine * kCacheLine;
  void* memory = std::aligned_alloc(kCacheLine, bytes);
  if (memory == nullptr) fatal("out of memory for the queues of a team");
  return static_cast<T*>(std::memset(memory, 0, bytes));
}

void free_queues(Locality* locality) {
  std::free(locality->victims);
  if (locality->queues != nullptr) std::free(locality->queues[0].members);
  std::free(locality->queues);
  std::free(locality->of_member);
  std::free(locality->of_domain);
  *locality = {};
}

// A team that is getting its queues.
struct Placement {
  Team* team;
  const PlaceMap* map;

  int domains_at(QueueLevel level) const {
    return map == nullptr || level == QueueLevel::kMachine ? 1 : map->domains[static_cast<int>(level_of(level))];
  }
  int domain_of(int member, QueueLevel level) const {
    if (map == nullptr || level == QueueLevel::kMachine) return 0;
    return map->places[team->members[member].place].domain[static_cast<int>(level_of(level))];
  }
  static Level level_of(QueueLevel level) {
    switch (level) {
      case QueueLevel::kCache: return Level::kLlCaches;
      case QueueLevel::kNuma: return Level::kNumaDomains;
      case QueueLevel::kSocket: return Level::kSockets;
      case QueueLevel::kCore:
      case QueueLevel::kMachine: break;
    }
    return Level::kCores;
  }

  bool in_several_domains() const {
    for (int i = 1; i < team->size; ++i) {
      if (domain_of(i, QueueLevel::kNuma) != domain_of(0, QueueLevel::kNuma)) return true;
    }
    return false;
  }
};

// kAffinity has queues per NUMA domain if the team is in several domains, and otherwise no queues.
QueueLevel level_for(int kind, bool several_domains) {
  if (kind == kAffinityAt) return several_domains ? QueueLevel::kNuma : QueueLevel::kCore;
  return options().queues[kind];
}

void set_members(const Placement& placement, Locality* locality, int kind, QueueLevel level, int first_queue) {
  for (int i = 0; i < placement.team->size; ++i) {
    SharedQueue* queue = &locality->queues[first_queue + placement.domain_of(i, level)];
    locality->of_member[i * kQueueClasses + kind] = queue;
    queue->members[i / 64] |= uint64_t{1} << (i % 64);
    if (kind == kAffinityAt) locality->of_domain[placement.domain_of(i, level)] = queue;
  }
}

void set_queues(const Placement& placement, Locality* locality) {
  const bool several = placement.map != nullptr && placement.in_several_domains();
  int first[kQueueClasses];
  int count = 0;
  for (int kind = 0; kind < kQueueClasses; ++kind) {
    const QueueLevel level = level_for(kind, several);
    first[kind] = count;
    if (level != QueueLevel::kCore) count += placement.domains_at(level);
  }
  if (count == 0) return;
  locality->queue_count = count;
  locality->queues = allocate<SharedQueue>(static_cast<size_t>(count));
  auto* masks = allocate<uint64_t>(static_cast<size_t>(count * Team::kMaskWords));
  for (int i = 0; i < count; ++i) {
    (new (&locality->queues[i]) SharedQueue)->members = masks + i * Team::kMaskWords;
  }
  locality->of_member = allocate<SharedQueue*>(static_cast<size_t>(placement.team->size * kQueueClasses));
  if (several) {
    locality->domains = placement.domains_at(QueueLevel::kNuma);
    locality->of_domain = allocate<SharedQueue*>(static_cast<size_t>(locality->domains));
  }
  for (int kind = 0; kind < kQueueClasses; ++kind) {
    const QueueLevel level = level_for(kind, several);
    if (level != QueueLevel::kCore) set_members(placement, locality, kind, level, first[kind]);
  }
}

void set_victims(const Placement& placement, Locality* locality) {
  const int size = placement.team->size;
  if (placement.map == nullptr || size < 2) return;
  int places[kMaxTeam];
  static_assert(kMaxTeam <= kMostMembers);
  for (int i = 0; i < size; ++i) places[i] = placement.team->members[i].place;
  locality->victims = allocate<int16_t>(static_cast<size_t>(size) * static_cast<size_t>(size - 1));
  for (int i = 0; i < size; ++i) {
    victim_order(*placement.map, places, size, i, locality->victims + ptrdiff_t{i} * (size - 1));
  }
}

SharedQueue* queue_for(Member* member, const Task* task, QueueClass kind) {
  const Locality* locality = member->team->locality;
  const int domain = task->domain();
  if (domain >= 0 && task->fiber == nullptr && domain < locality->domains && locality->of_domain[domain] != nullptr) {
    return locality->of_domain[domain];
  }
  return member->shared[static_cast<int>(kind)];
}

}  // namespace

void SharedQueue::push(Task* task, uint32_t coin) {
  const SchedulePolicy policy = options().schedule.policy;
  Guard<SpinLock> guard(lock);
  if (policy == SchedulePolicy::kFifo || (policy == SchedulePolicy::kRandom && (coin & 1) != 0)) {
    tasks.push_back(task);
  } else {
    tasks.push_front(task);
  }
  count.fetch_add(1, seq_cst);  // before the look at the sleepers (sched/idle.hpp)
}

Task* SharedQueue::pop() {
  if (empty()) return nullptr;
  Guard<SpinLock> guard(lock);
  Task* task = tasks.pop_front();
  if (task != nullptr) count.fetch_sub(1, relaxed);
  return task;
}

void locality_set(Team* team, const PlaceMap* map) {
  if (team->locality == nullptr) team->locality = new (allocate<Locality>(1)) Locality;
  Locality* locality = team->locality;
  free_queues(locality);
  const Placement placement{team, map};
  set_victims(placement, locality);
  set_queues(placement, locality);
  for (int i = 0; i < team->size; ++i) {
    Member& member = team->members[i];
    member.victims = locality->victims == nullptr ? nullptr : locality->victims + ptrdiff_t{i} * (team->size - 1);
    member.shared = locality->of_member == nullptr ? nullptr : locality->of_member + ptrdiff_t{i} * kQueueClasses;
  }
}

Member* nth_victim(const Member* thief, int i) {
  Team* team = thief->team;
  if (thief->victims != nullptr) return &team->members[thief->victims[i]];
  // Without places: if the program has bound the threads in order, the nearest index is the nearest core.
  return &team->members[(thief->index + 1 + i) % team->size];
}

[[gnu::noinline]] Task* take_shared(Member* member) {
  for (const QueueClass kind : {QueueClass::kAffinity, QueueClass::kSuccessor, QueueClass::kNew, QueueClass::kUntied}) {
    SharedQueue* queue = member->shared[static_cast<int>(kind)];
    if (queue == nullptr) continue;
    if (Task* task = queue->pop()) return task;
  }
  return nullptr;
}

bool shared_in_sight(const Member* member) {
  for (int kind = 0; kind < kQueueClasses; ++kind) {
    if (member->shared[kind] != nullptr && !member->shared[kind]->empty()) return true;
  }
  return false;
}

bool push_shared(Member* member, Task* task, QueueClass kind, uint32_t coin) {
  SharedQueue* queue = queue_for(member, task, kind);
  if (queue == nullptr) return false;
  queue->push(task, coin);
  if (!wake_one_of(member->team, queue->members)) wake_for_task(member->team);
  return true;
}

[[gnu::noinline]] int64_t queued_like(Member* member, const Task* task, QueueClass kind) {
  SharedQueue* queue = queue_for(member, task, kind);
  return queue != nullptr ? queue->count.load(relaxed) : member->deque.size();
}

bool affinity_matters(const Worker* worker) {
  const Member* member = worker->member;
  return member != nullptr && member->team->locality != nullptr && member->team->locality->of_domain != nullptr;
}

bool belongs_elsewhere(const Worker* worker, const Task* task) {
  const Member* member = worker->member;
  if (member == nullptr || member->team != task->team || !affinity_matters(worker)) return false;
  const Locality* locality = member->team->locality;
  const int domain = task->domain();
  if (domain >= locality->domains || locality->of_domain[domain] == nullptr) return false;
  return locality->of_domain[domain] != member->shared[kAffinityAt];
}

}  // namespace marline
