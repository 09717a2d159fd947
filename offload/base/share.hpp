// SPDX-License-Identifier: Apache-2.0
//
// Which GPU is the default device of a rank, if several ranks of an MPI job are on one node. Ranks do not talk to each
// other about it: each decides by its number and by the CPUs that the launcher has left to it. No state.
#pragma once

#include "base/facts.hpp"

namespace marline::offload {

struct RankPlace {
  int rank = 0;     // among those of this node
  int ranks = 0;    // of this node; 0: no launcher has said so
  int domain = -1;  // the NUMA domain of the rank's CPUs; -1: they are in several, or it is not known
  int slot = 0;     // which part of the domain the CPUs are, if it is divided into parts as large as that
};

// What the launcher's variables say. Both are set, or none.
[[nodiscard]] RankPlace rank_from(const char* (*lookup)(const char* name));

// `cpus`: those of the process; `of_domain`: those of one domain; ascending. The slot of the first, or -1 if not all of
// them are in the domain.
[[nodiscard]] int slot_in(const int* cpus, int count, const int* of_domain, int domain_count);

// The number of the rank's GPU: one that is as near as the rank's CPUs if there is such a one, by slots; else by ranks,
// one after the other. -1: there is no choice, since there are not several ranks or GPUs.
[[nodiscard]] int share_of(const RankPlace& place, const DeviceFacts* devices, int count);

}  // namespace marline::offload
