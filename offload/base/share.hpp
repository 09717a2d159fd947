// SPDX-License-Identifier: Apache-2.0
//
// Chooses the GPU that is the default device of a rank, if several ranks of an MPI job are on one node. The ranks do
// not communicate for this: each decides by its number and by the CPUs that the launcher has given it. No state.
#pragma once

#include "base/facts.hpp"

namespace marline::offload {

struct RankPlace {
  int rank = 0;     // number of the rank among the ranks of this node
  int ranks = 0;    // number of ranks on this node; 0: no launcher has set it
  int domain = -1;  // the NUMA domain of the rank's CPUs; -1: they are in several domains, or it is not known
  int slot = 0;     // which part of the domain the rank's CPUs are, if the domain is divided into parts of their size
};

// What the launcher's variables say. Either both rank and ranks are set, or neither. `lookup` returns the value of a
// variable, or null.
[[nodiscard]] RankPlace rank_from(const char* (*lookup)(const char* name));

// The slot of the first of the process's CPUs `cpus` in a domain with the CPUs `of_domain` (both ascending), or -1 if
// not all of `cpus` are in the domain.
[[nodiscard]] int slot_in(const int* cpus, int count, const int* of_domain, int domain_count);

// The number of the rank's GPU. If some GPUs but not all are in the domain of the rank's CPUs, it is one of these,
// chosen by the slot; else one of all GPUs, chosen by the rank. -1: there is no choice, since there are not several
// ranks and several GPUs.
[[nodiscard]] int share_of(const RankPlace& place, const DeviceFacts* devices, int count);

}  // namespace marline::offload
