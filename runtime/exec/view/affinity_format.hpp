// SPDX-License-Identifier: Apache-2.0
//
// Affinity format strings (OpenMP 5.1, section 6.14): `%[[[0].]size]type` and `%[[[0].]size]{name}`. A pure function of
// the format and the facts.
#pragma once

#include <cstddef>

namespace marline {

// What the fields can show, of one thread.
struct AffinityFacts {
  int team_num;
  int num_teams;
  int nesting_level;
  int thread_num;
  int num_threads;
  int ancestor_tnum;
  const char* host;
  int process_id;
  int native_thread_id;
  const char* thread_affinity;
  // Marline's own fields, without short names: the number of the thread's place, and the policy that gave it.
  int place_num;
  const char* proc_bind;
};

// Writes the expanded format, cut to `size` bytes with its null byte; `size` 0 writes nothing. Returns the length of
// the whole text. A field that does not exist expands to "undefined", as the specification has it.
size_t format_affinity(char* buffer, size_t size, const char* format, const AffinityFacts& facts);

}  // namespace marline
