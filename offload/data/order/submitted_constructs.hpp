// SPDX-License-Identifier: Apache-2.0
//
// Early-submitted constructs (submission_order.hpp) in the data environment, for items without mappers. They must not
// wait: each function checks all items first, and changes nothing if the construct has to be left to a thread.
//
// Invariants. A map entry that an early-submitted construct fills or empties is in flight for it until the construct's
// task ends, as for constructs that wait. So constructs without an order to it wait as ever. Constructs ordered after
// it go on: an entry that it fills is there for them, and their operations are ordered after its copies; an entry that
// it empties is not there for them, and its record, which is no longer in the table, is released by the construct that
// empties it. Only one construct takes over an entry in flight, and only from a construct that it is ordered after and
// that ends before it. A transient map is an entry that exists only for early-submitted regions. It is removed at the
// end of the last region that uses it, and it is not known before which region that is. So it is in flight for none of
// these regions, but for itself: `in_flight` points to MapEntry::own. Only regions with transient maps may use it at
// the same time.
//
// For all functions: `plan` stays at its address until the construct's end, and the caller makes the copies that it
// lists. A function returns false if it has done nothing, since the construct needs more than the function does, or
// since some of the data is in flight for another construct.
#pragma once

#include "data/data_environment.hpp"

namespace marline::offload::data {

// A region that only has to count references. All its data is mapped by an enter data or the like, and not by other
// regions alone.
[[nodiscard]] bool begin_present(DataEnvironment& environment, const Items& items, const SubmissionOrder& order);

// A region with transient maps. It runs after plan.copies, which copy its data to the device. plan.copies_back copy
// data back to the host, after its kernel and after the ends of the tasks in plan.sharers. `filled_by`: the operation
// of plan.copies.
[[nodiscard]] bool begin_transient(DataEnvironment& environment, const Items& items, Plan& plan,
                                   const SubmissionOrder& order);
void note_filling(Plan& plan, uint64_t filled_by);

// The end of a region's task. The caller makes plan.copies and calls DataEnvironment::finish_end. `plan` is the plan of
// the region's begin, if it had one.
[[nodiscard]] bool begin_end(DataEnvironment& environment, const Items& items, Plan& plan, uint64_t task);

// Data constructs. After begin_enter, the data is on the device when plan.copies are made; the caller calls
// finish_enter when the construct has ended. After begin_exit, the caller calls DataEnvironment::finish_end when the
// construct has ended. begin_update fills plan.copies_back, too.
[[nodiscard]] bool begin_enter(DataEnvironment& environment, const Items& items, Plan& plan,
                               const SubmissionOrder& order);
void finish_enter(DataEnvironment& environment, Plan& plan);
[[nodiscard]] bool begin_exit(DataEnvironment& environment, const Items& items, Plan& plan,
                              const SubmissionOrder& order);
[[nodiscard]] bool begin_update(DataEnvironment& environment, const Items& items, Plan& plan,
                                const SubmissionOrder& order);

}  // namespace marline::offload::data
