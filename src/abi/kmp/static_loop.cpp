// SPDX-License-Identifier: Apache-2.0
//
// Loops with a static schedule, as Clang calls them: the thread's share, computed from its number alone. The bounds are
// inclusive; with a chunk size the first chunk and the stride to the next one come back, and the compiler clips the
// last.
// (OpenMP 5.2, section 11.5.3.)
#include "abi/kmp/schedule.hpp"
#include "abi/kmp/types.hpp"
#include "base/check.hpp"
#include "exec/announce.hpp"

#include <algorithm>
#include <type_traits>

namespace marline::kmp {

namespace {

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

  void chunks(Unsigned trips, Unsigned thread, Unsigned threads) const {
    Unsigned size = chunk < 1 ? 1 : std::min(static_cast<Unsigned>(chunk), trips);
    Unsigned count = (trips - 1) / size + 1;
    *last = thread == (count - 1) % threads;
    if (thread >= count) {  // no chunk: its bounds might lie beyond the type's end
      *stride = increment;
      *lower = at(*upper, 1);
      return;
    }
    // With fewer chunks than threads nobody has a second one: the step need not be the exact one, but must not wrap to 0.
    *stride = static_cast<Signed>(size * static_cast<Unsigned>(increment) * std::min(threads, count));
    *lower = at(*lower, size * thread);
    *upper = at(*lower, size - 1);
  }

  void compute(int32_t schedule) const {
    const Member* member = this_worker()->member;
    *last = 0;
    *stride = increment;
    if (increment > 0 ? *upper < *lower : *lower < *upper) return;  // no iterations; the bounds say so
    Unsigned trips = trip_count(*lower, *upper, increment);
    // A distribute schedule divides among the teams of the league, of which there is one.
    bool league = is_distribute(schedule);
    Unsigned threads = league ? 1 : static_cast<Unsigned>(member->team->size);
    Unsigned thread = league ? 0 : static_cast<Unsigned>(member->index);
    if (threads == 1) {
      *last = 1;
      *stride = static_cast<Signed>(trips * static_cast<Unsigned>(increment));
    } else if (is_static_chunked(schedule)) {
      chunks(trips, thread, threads);
    } else {
      whole_blocks(trips, thread, threads);
    }
  }
};

tool::Work work_of(const Ident* where) {
  if (where->flags & kIdentSections) return tool::Work::kSections;
  return where->flags & kIdentDistribute ? tool::Work::kDistribute : tool::Work::kLoopStatic;
}

template <class T, class S>
void static_init(const Ident* where, int32_t schedule, int32_t* last, T* lower, T* upper, S* stride, S increment,
                 S chunk, const void* codeptr = __builtin_return_address(0)) {
  if (increment == 0) fatal("a worksharing loop has increment 0; OpenMP requires another one");
  if (tool::on(tool::event::kWork)) [[unlikely]] {
    bool empty = increment > 0 ? *upper < *lower : *lower < *upper;
    announce_work(this_worker(), work_of(where), tool::Endpoint::kBegin,
                  empty ? 0 : trip_count(*lower, *upper, increment), codeptr);
  }
  StaticShare<T>{last, lower, upper, stride, increment, chunk}.compute(schedule);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void __kmpc_for_static_init_4(Ident* where, int32_t, int32_t schedule, int32_t* last, int32_t* lower, int32_t* upper,
                              int32_t* stride, int32_t increment, int32_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_4u(Ident* where, int32_t, int32_t schedule, int32_t* last, uint32_t* lower, uint32_t* upper,
                               int32_t* stride, int32_t increment, int32_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_8(Ident* where, int32_t, int32_t schedule, int32_t* last, int64_t* lower, int64_t* upper,
                              int64_t* stride, int64_t increment, int64_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_init_8u(Ident* where, int32_t, int32_t schedule, int32_t* last, uint64_t* lower, uint64_t* upper,
                               int64_t* stride, int64_t increment, int64_t chunk) {
  static_init(where, schedule, last, lower, upper, stride, increment, chunk);
}

void __kmpc_for_static_fini(Ident* where, int32_t) {
  announce_work(this_worker(), work_of(where), tool::Endpoint::kEnd, 0, __builtin_return_address(0));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::kmp
