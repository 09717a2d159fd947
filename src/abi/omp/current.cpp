// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "abi/omp/current.hpp"

#include "exec/worker/runtime.hpp"
#include "exec/worker/worker.hpp"

namespace marline {

namespace {

Team g_outside_team;
Member g_outside_member;

// Before the first signal: while the library is loaded.
[[gnu::constructor]] void join_outside_team() {
  g_outside_member.team = &g_outside_team;
  g_outside_team.members = &g_outside_member;
}

}  // namespace

const Member* outside_member() { return &g_outside_member; }

Icvs outside_icvs() {
  settle_options();
  return initial_icvs();
}

}  // namespace marline
