// SPDX-License-Identifier: Apache-2.0
//
// The thread's share of a loop with a static schedule, computed from its number alone. The bounds are inclusive; with a
// chunk size the first chunk and the stride to the next one come back, and the compiler clips the last. `distribute`
// divides among the teams of the league the same way (OpenMP 5.2, sections 11.5.3 and 11.6).
#pragma once

#include "abi/kmp/loop/division.hpp"
#include "abi/kmp/loop/schedule.hpp"
#include "sched/this_worker.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace marline::kmp {

template <class T>
struct StaticShare {
  using Signed = std::make_signed_t<T>;
  using Unsigned = std::make_unsigned_t<T>;
  int32_t* last;
  T* lower;
  T* upper;
  Signed* stride;
  Signed increment;
  Signed chunk;

  // Arithmetic is done unsigned: bounds may lie anywhere in the type, and wrapping is what the compiler expects.
  T at(T from, Unsigned steps) const {
    return static_cast<T>(static_cast<Unsigned>(from) + steps * static_cast<Unsigned>(increment));
  }

  void whole_blocks(Unsigned trips, Unsigned thread, Unsigned threads) const {
    Unsigned small = trips / threads;
    Unsigned extras = trips % threads;
    Unsigned mine = small + (thread < extras ? 1 : 0);
    *last = mine != 0 && (trips < threads ? thread == trips - 1 : thread == threads - 1);
    *stride = static_cast<Signed>(trips);
    if (mine == 0) {
      *lower = at(*upper, 1);  // an empty share: the compiler's test "lower <= upper" fails
      return;
    }
    *lower = at(*lower, thread * small + std::min(thread, extras));
    *upper = at(*lower, mine - 1);
  }

  Unsigned chunk_size(Unsigned trips) const { return chunk < 1 ? 1 : std::min(static_cast<Unsigned>(chunk), trips); }

  void chunks(Unsigned trips, Unsigned thread, Unsigned threads) const {
    Unsigned size = chunk_size(trips);
    Unsigned count = (trips - 1) / size + 1;
    *last = thread == (count - 1) % threads;
    if (thread >= count) {  // no chunk: its bounds might lie beyond the type's end
      *stride = increment;
      *lower = at(*upper, 1);
      return;
    }
    // With fewer chunks than threads no thread has a second chunk: the stride need not be exact, but must not wrap to
    // 0.
    *stride = static_cast<Signed>(size * static_cast<Unsigned>(increment) * std::min(threads, count));
    *lower = at(*lower, size * thread);
    *upper = at(*lower, size - 1);
  }

  bool empty() const { return increment > 0 ? *upper < *lower : *lower < *upper; }

  // Call only if there are iterations to divide.
  void divide(int32_t schedule, const Division& among) const {
    Unsigned trips = trip_count(*lower, *upper, increment);
    auto index = static_cast<Unsigned>(among.index);
    auto count = static_cast<Unsigned>(among.count);
    if (count == 1) {
      *last = 1;
      *stride = static_cast<Signed>(trips * static_cast<Unsigned>(increment));
    } else if (is_static_chunked(schedule)) {
      chunks(trips, index, count);
    } else {
      whole_blocks(trips, index, count);
    }
  }

  void compute(int32_t schedule) const {
    *last = 0;
    *stride = increment;
    if (empty()) return;  // the bounds show that there is no iteration
    const Member* member = this_worker()->member;
    divide(schedule, is_distribute(schedule) ? among_teams(member) : among_threads(member));
  }

  // distribute: the team's block.
  void compute_block_of_team() const {
    *last = 0;
    if (!empty()) divide(kStatic, among_teams(this_worker()->member));
  }

  // distribute parallel for: computes the team's block, writes its end to `upper_of_team`, and computes the thread's
  // share of the block.
  void compute_twice(int32_t schedule, T* upper_of_team) const {
    *last = 0;
    *stride = increment;
    *upper_of_team = *upper;
    if (empty()) return;
    const Member* member = this_worker()->member;
    Division teams = among_teams(member);
    bool none = trip_count(*lower, *upper, increment) <= teams.index;
    divide(kStatic, teams);
    *upper_of_team = *upper;
    if (none) return;
    int32_t last_team = *last;
    divide(schedule, among_threads(member));
    *last = *last && last_team;
  }

  // distribute parallel for with dist_schedule(static, chunk): the team's first chunk, no longer than the loop.
  void compute_team_chunk() const {
    *last = 0;
    *stride = increment;
    if (empty()) return;
    Division teams = among_teams(this_worker()->member);
    auto index = static_cast<Unsigned>(teams.index);
    Unsigned trips = trip_count(*lower, *upper, increment);
    Unsigned size = chunk_size(trips);
    chunks(trips, index, static_cast<Unsigned>(teams.count));
    if (index <= (trips - 1) / size) *upper = at(*lower, std::min(size, trips - index * size) - 1);
  }
};

}  // namespace marline::kmp
