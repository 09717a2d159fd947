// SPDX-License-Identifier: Apache-2.0
//
// Finds out what placement.hpp decides from: the cores of this node, and which of them the launcher leaves to this
// rank.
#ifndef MARLINE_LAUNCH_PLACE_NODE_HPP
#define MARLINE_LAUNCH_PLACE_NODE_HPP

#include <optional>
#include <string>

#include "place/placement.hpp"

namespace marline::launch {

// In a job that start/job.cpp starts: which process this is, and how many there are.
constexpr const char* kNumberInJob = "MARLINE_JOB_NUMBER";
constexpr const char* kCountInJob = "MARLINE_JOB_COUNT";

// This rank's number on the node, the variable that says it, and how many ranks the node has: 0 if there is no
// launcher, or if it does not say.
struct LocalRank {
  std::string variable;
  int rank = 0;
  int ranks = 0;
  bool operator==(const LocalRank&) const = default;
};

// The situation of this process. The program inherits its cores. `threads`: from the command line.
Situation situation(std::optional<int> threads, const Environment& environment);

LocalRank local_rank(const Environment& environment);
// The number of tasks of one node in Slurm's list: "4(x2),3" means 4, 4 and 3 tasks. Nothing if the list does not have
// it.
std::optional<int> tasks_of_node(const std::string& text, const std::string& node);
// The cores of `cpus`, as the folder `system` (/sys/devices/system) describes them. They are sorted by package, memory,
// cache and number, so that neighbours are side by side. A CPU that the folder does not describe counts as a core.
Cores read_cores(const std::string& system, const Cpus& cpus);
// The CPUs that a process may use; 0: this one. Nothing if there is no such process.
std::optional<Cpus> allowed_cpus(int process);
// Cores (not hardware threads) that this process may use: what Open MPI counts as slots.
size_t core_count();
// Whether a launcher says by this variable how many of its ranks run on this node.
bool is_local_size(const std::string& variable);

}  // namespace marline::launch

#endif
