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

}  // namespace

void assign_places(Team* team, Worker* opener) {
  if (!binding_wanted()) {
    if (options().shared_queues) locality_set(team, nullptr);
    return;
  }
  const Places& places = process_places();
  auto* assigned = static_cast<PlaceAssignment*>(std::calloc(static_cast<size_t>(team->size), sizeof(PlaceAssignment)));
  if (assigned == nullptr) fatal("out of memory for the places of %d threads", team->size);
  places_assign(options().proc_bind[0], 0, places.count, opener->place, team->size, assigned);
  for (int i = 0; i < team->size; ++i) {
    team->members[i].place = assigned[i].place;
    team->members[i].partition_first = assigned[i].partition_first;
    team->members[i].partition_count = assigned[i].partition_count;
  }
  std::free(assigned);
  locality_set(team, &process_place_map());
  bind_to_place(opener, team->members[0].place);
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
