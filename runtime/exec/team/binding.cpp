// SPDX-License-Identifier: Apache-2.0
//
// Binding: applies the policy, a pure function of platform/topology/places.hpp, to the team's members.
#include "exec/team/binding.hpp"

#include "base/check.hpp"
#include "config/options.hpp"
#include "platform/topology/places.hpp"
#include "platform/thread.hpp"
#include "sched/locality.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline {

namespace {

constexpr int kClausePolicy = 7;  // the bits of a ProcBind

// The conditions on which the members' places depend.
PlacesGiven conditions(const Team* team, const Worker* opener, int proc_bind, const Places* places) {
  PlacesGiven given;
  given.size = team->size;
  if (places == nullptr) return given;
  const int clause = proc_bind & kClausePolicy;
  given.policy = clause != 0 ? clause : static_cast<int>(bind_var(*opener->task->icvs, opener->member->team->level));
  given.opener = opener->binding.place;
  const PlacePartition partition = partition_of(opener->member);
  given.first = partition.first;
  given.count = partition.count;
  return given;
}

void give_places(Team* team, const PlacesGiven& given) {
  auto* assigned = static_cast<PlaceAssignment*>(std::calloc(static_cast<size_t>(team->size), sizeof(PlaceAssignment)));
  if (assigned == nullptr) fatal("out of memory for the places of %d threads", team->size);
  places_assign(static_cast<ProcBind>(given.policy), given.first, given.count, given.opener, team->size, assigned);
  for (int i = 0; i < team->size; ++i) {
    team->members[i].place = assigned[i].place;
    team->members[i].partition_first = assigned[i].partition_first;
    team->members[i].partition_count = assigned[i].partition_count;
  }
  std::free(assigned);
}

void bind_thread(int place) {
  if (!places_can_be_bound()) return;
  if (thread_bind_self(process_places().masks[place])) return;
  int error = errno;
  static Atomic<int> said{0};
  if (said.exchange(1, relaxed) == 0) {
    warn(
        "cannot bind a thread to place %d (%s): threads stay where the system puts them; check OMP_PLACES against the "
        "CPUs that the process may use",
        place, std::strerror(error));
  }
}

}  // namespace

bool binding_wanted() { return options().proc_bind[0] != ProcBind::kUnbound; }

PlacePartition partition_of(const Member* member) {
  for (; member != nullptr; member = member->team->parent_member) {
    if (member->partition_count > 0) return {member->partition_first, member->partition_count};
  }
  return {0, process_places().count};
}

void assign_places(Team* team, Worker* opener, int proc_bind) {
  bool bound = binding_wanted();
  if (!bound && !options().shared_queues) return;
  if (opener->binding.share != nullptr) bound = false;  // the CPUs of a share are not a place
  PlacesGiven given = conditions(team, opener, proc_bind, bound ? &process_places() : nullptr);
  if (!(given == team->places_given)) {
    if (bound) give_places(team, given);
    locality_set(team, bound ? &process_place_map() : nullptr);
    team->places_given = given;
  }
  if (bound) bind_to_place(opener, team->members[0].place);
}

ProcBind bind_var(const Icvs& icvs, int level) {
  const auto by_clause = static_cast<ProcBind>(icvs.clause_bind);
  if (by_clause != ProcBind::kUnbound) return by_clause;
  const Options& o = options();
  return o.proc_bind[level < o.proc_bind_count ? level : o.proc_bind_count - 1];
}

int place_of(Worker* worker) {
  if (worker->binding.place == kNoPlace && worker->root && worker->member->team->active_level == 0 &&
      binding_wanted()) {
    bind_to_place(worker, 0);
  }
  return worker->binding.place >= 0 ? worker->binding.place : -1;
}

int place_of_first_thread() {
  if (!binding_wanted()) return -1;
  bind_thread(0);
  return 0;
}

void bind_to_place(Worker* worker, int place) {
  if (place < 0 || worker->binding.place == place) return;
  worker->binding.place = place;
  bind_thread(place);
}

int take_cpu_share(Worker* worker, const CpuMask& cpus, int threads) {
  const CpuMask around = thread_affinity();
  if (!thread_bind_self(cpus)) return errno;
  void* memory = std::malloc(sizeof(CpuShare));
  if (memory == nullptr) fatal("out of memory for a share of the CPUs");
  worker->binding = {kElsewhere, new (memory) CpuShare{cpus, around, threads}};
  return 0;
}

// The system has bound a thread to these CPUs before, so it refuses only if it has taken them from the process since
// then. Then it has put all threads elsewhere, too.
void follow_cpu_share(Worker* worker, const CpuShare* share) {
  if (share == worker->binding.share) return;
  (void)thread_bind_self(share != nullptr ? share->cpus : worker->binding.share->around);
  worker->binding = {share != nullptr ? kElsewhere : kNoPlace, share};
}

}  // namespace marline
