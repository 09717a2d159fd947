// SPDX-License-Identifier: Apache-2.0
//
// A random OpenMP program without races for the cluster's simulator: constructs with dependences, maps, and the bytes
// that they really read and write. Bytes have symbolic values, so a run in the order of creation gives the values that
// each construct must find. Which accesses to a byte must be ordered is decided here by sets of ancestors, which the
// core does not know.
#pragma once

#include <bitset>
#include <cstdint>
#include <random>
#include <vector>

namespace marline::offload::cluster::simulation {

inline constexpr size_t kMostConstructs = 320;

enum class Kind { kKernel, kHost, kEnter, kExit, kUpdateTo, kUpdateFrom };
enum class Depend { kIn, kInOut, kMutexInOutSet, kInOutSet };

struct Use {
  int variable;
  bool to = false, from = false, always = false, must_end = false;
  uint64_t offset = 0, bytes = 0;                    // the bytes the bytes that the clauses name
  bool is_copied_in = false, is_copied_out = false;  // as reference counts in the order of creation say
  bool may_write = false;                            // as the clauses say
  // Bytes really accessed: of the device's copy in kernels, of the variable on the host.
  std::vector<uint64_t> reads, writes;
};

struct Construct {
  Kind kind;
  std::vector<int> predecessors;  // constructs, after dependences; ascending
  std::vector<Use> uses;
  bool waits = false;         // the program waits for all tasks before this one
  bool is_cancelled = false;  // some time after its creation
  int pin = 0;                // a node, or 0
  unsigned kinds = ~0u;       // of members that have an image
  double work = 1;
  int loop = 0;                       // the number of the persistent graph that the task belongs to
  bool waits_for_iterations = false;  // of the graph: the program waits for each iteration before the next one
  bool begins_iteration = false, ends_iteration = false, ends_loop = false;
  std::bitset<kMostConstructs> ancestors;  // constructs that it is ordered after
  std::vector<uint64_t> words;             // of a graph's task: firstprivate data
};

struct Program {
  int nodes;
  std::vector<uint32_t> member_kinds;  // of node 1, and so on
  std::vector<uint64_t> sizes;         // of the variables
  std::vector<Construct> constructs;
};

// The same seed makes the same program; `most` cuts it. The last constructs end all mappings.
Program make_program(unsigned seed, int most);

}  // namespace marline::offload::cluster::simulation
