// SPDX-License-Identifier: Apache-2.0
//
// Where a rank and its workers run, so that no two workers of a node share a core if there are enough. `decide` is a
// pure function of the machine, the launcher's masks and the environment: machines that we do not have are tested from
// their descriptions. node.cpp finds out what it needs.
#ifndef MARLINE_LAUNCH_PLACE_PLACEMENT_HPP
#define MARLINE_LAUNCH_PLACE_PLACEMENT_HPP

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"

namespace marline::launch {

using Cpus = std::set<int>;

// The hardware threads of one core that may be used. Cores of one domain share a package and its memory.
struct Core {
  std::vector<int> cpus;
  std::pair<int, int> domain;
  bool operator==(const Core&) const = default;
};
using Cores = std::vector<Core>;

// The CPUs of one rank. `shared`: CPUs that MPI's launcher itself may use. `own`: CPUs to which the launcher has bound
// this rank; the same as `shared` if it binds none. Without a launcher `ranks` is 0.
struct Situation {
  Cores cores;  // in the order of the topology
  Cpus own;
  Cpus shared;
  int rank = 0;                // among the ranks of this node
  int ranks = 0;               // on this node
  std::optional<int> threads;  // of each rank; without: as many as fit
  bool is_batch = false;       // a batch system started the rank: CPUs beyond `own` may be another job's
  Environment environment;
};

// `cpus`: to bind the rank to; without a value it stays where it is. `variables`: to set for the program. `note`: to
// tell the user; "" if there is nothing to tell.
struct Placement {
  std::optional<Cpus> cpus;
  std::vector<Variable> variables;
  std::string note;
  bool operator==(const Placement&) const = default;
};

Placement decide(const Situation& at);

// How many threads OMP_NUM_THREADS asks for, with the threads of nested regions.
std::optional<int> threads_in(const Environment& environment);
// The cores with at least one hardware thread among `cpus`, reduced to those hardware threads.
Cores usable(const Cores& cores, const Cpus& cpus);
// `threads` neighbouring cores for each rank; across the border of a domain only if not all ranks fit otherwise.
std::vector<Cores> pack(const Cores& cores, int ranks, int threads);
// "4 workers share 2 cores"; "" if they need not.
std::string crowd(int64_t workers, size_t cores);

}  // namespace marline::launch

#endif
