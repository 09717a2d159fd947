// SPDX-License-Identifier: Apache-2.0
//
// The states of a thread that Marline shows to tools and debuggers, with their names: a part of ompt_state_t (OpenMP
// 5.2, section 4.4.4.29; the values are also in LLVM's omp-tools.h). The last one stands for no state; an enumeration
// begins after it, and ends before it. No state of its own.
#pragma once

namespace marline {

struct OmptState {
  int value;
  const char* name;
};

inline constexpr OmptState kOmptStates[] = {{0x000, "ompt_state_work_serial"},
                                            {0x001, "ompt_state_work_parallel"},
                                            {0x011, "ompt_state_wait_barrier_implicit_parallel"},
                                            {0x012, "ompt_state_wait_barrier_implicit_workshare"},
                                            {0x014, "ompt_state_wait_barrier_explicit"},
                                            {0x015, "ompt_state_wait_barrier_implementation"},
                                            {0x016, "ompt_state_wait_barrier_teams"},
                                            {0x020, "ompt_state_wait_taskwait"},
                                            {0x021, "ompt_state_wait_taskgroup"},
                                            {0x041, "ompt_state_wait_lock"},
                                            {0x042, "ompt_state_wait_critical"},
                                            {0x043, "ompt_state_wait_atomic"},
                                            {0x044, "ompt_state_wait_ordered"},
                                            {0x100, "ompt_state_idle"},
                                            {0x102, "ompt_state_undefined"}};
inline constexpr int kOmptStateCount = sizeof kOmptStates / sizeof kOmptStates[0];

// The index of the state after `current`; kOmptStateCount - 1: there is none, or `current` is no state.
constexpr int next_ompt_state(int current) {
  int i = 0;
  if (current == kOmptStates[kOmptStateCount - 1].value) return 0;
  while (i < kOmptStateCount - 1 && kOmptStates[i].value != current) ++i;
  return i < kOmptStateCount - 1 ? i + 1 : i;
}

}  // namespace marline
