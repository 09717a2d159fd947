// SPDX-License-Identifier: Apache-2.0
//
// Binding: the policy is platform/places.hpp's pure function; here it meets the team's members.
#include "exec/binding.hpp"

#include "base/check.hpp"
#include "config/options.hpp"
#include "platform/places.hpp"
#include "platform/thread.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace marline {

namespace {

// OMP_PLACES alone has been made a policy of by then (config/options.cpp, resolve).
bool binding_wanted() { return options().proc_bind[0] != ProcBind::kUnbound; }

// bind-var of a region at nesting level `level`, 0 for the outermost ones.
ProcBind policy_at(int level) {
  const Options& o = options();
  return o.proc_bind[level < o.proc_bind_count ? level : o.proc_bind_count - 1];
}

// What the members' places depend on.
PlacesGiven conditions(const Team* team, const Worker* opener, const Places* places) {
  PlacesGiven given;
  given.size = team->size;
  if (places == nullptr) return given;
  given.policy = static_cast<int>(policy_at(opener->member->team->level));
  given.count = places->count;
  given.opener = opener->place;
  for (const Member* around = opener->member; around != nullptr; around = around->team->parent_member) {
    if (around->partition_count == 0) continue;
    given.first = around->partition_first;
    given.count = around->partition_count;
    break;
  }
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

}  // namespace

void assign_places(Team* team, Worker* opener) {
  bool bound = binding_wanted();
  if (!bound && !options().shared_queues) return;
  PlacesGiven given = conditions(team, opener, bound ? &process_places() : nullptr);
  if (!(given == team->places_given)) {
    if (bound) give_places(team, given);
    locality_set(team, bound ? &process_place_map() : nullptr);
    team->places_given = given;
  }
  if (bound) bind_to_place(opener, team->members[0].place);
}

void bind_first_thread(Worker* worker) {
  if (binding_wanted()) bind_to_place(worker, 0);
}

void bind_to_place(Worker* worker, int place) {
  if (place < 0 || worker->place == place) return;
  worker->place = place;
  if (!places_can_be_bound()) return;
  if (thread_bind_self(process_places().masks[place])) return;
  int error = errno;
  static Atomic<int> said{0};
  if (said.exchange(1, relaxed) == 0) {
    warn("cannot bind a thread to place %d (%s): threads stay where the system puts them; check OMP_PLACES against the "
         "CPUs that the process may use",
         place, std::strerror(error));
  }
}

}  // namespace marline
