// SPDX-License-Identifier: Apache-2.0
//
// What placement.hpp is told of this node: its cores, and what the launcher has left to this rank.
#ifndef MARLINE_LAUNCH_PLACE_NODE_HPP
#define MARLINE_LAUNCH_PLACE_NODE_HPP

#include <optional>
#include <string>

#include "place/placement.hpp"

namespace marline::launch {

// In a job that start/job.cpp starts: which process this is, and how many there are.
constexpr const char* kNumberInJob = "MARLINE_JOB_NUMBER";
constexpr const char* kCountInJob = "MARLINE_JOB_COUNT";

// The variable that tells this rank's number on the node, that number, and how many there are: 0 without a launcher, or
// with one that does not say.
struct LocalRank {
  std::string variable;
  int rank = 0;
  int ranks = 0;
  bool operator==(const LocalRank&) const = default;
};

// That of this process, which is the program's until it starts it. `threads`: what the command line asks for.
Situation situation(std::optional<int> threads, const Environment& environment);

LocalRank local_rank(const Environment& environment);
// Slurm's list, "4(x2),3" for 4, 4 and 3 tasks, at one node; nothing where it has none.
std::optional<int> tasks_of_node(const std::string& text, const std::string& node);
// The cores of `cpus` below /sys/devices/system, neighbours side by side: by package, memory, cache and number. A CPU
// of which nothing is said is a core.
Cores read_cores(const std::string& system, const Cpus& cpus);
// The CPUs that a process may use; 0: this one. Nothing if there is no such process.
std::optional<Cpus> allowed_cpus(int process);
// Cores (not hardware threads) that this process may use: what Open MPI counts as slots.
size_t core_count();
// Whether the variable is one of those that tell how many ranks share the node.
bool is_local_size(const std::string& variable);

}  // namespace marline::launch

#endif
