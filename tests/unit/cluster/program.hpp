// SPDX-License-Identifier: Apache-2.0
//
// A random OpenMP program without races for the cluster's simulator: constructs with dependences, maps, and the bytes
// that they really read and write. Bytes have symbolic values, so a run in the order of creation says what each must
// find. Which of two accesses to a byte must be ordered is decided here by sets of ancestors, which the core does not
// know.
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
  uint64_t offset = 0, bytes = 0;                    // that the clauses name
  bool is_copied_in = false, is_copied_out = false;  // as reference counts in the order of creation say
  bool may_write = false;                            // as the clauses say
  std::vector<uint64_t> reads, writes;  // bytes, really; of the device's copy in kernels, of the variable on the host
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
  int loop = 0;                       // a persistent graph's number: it is one of its tasks
  bool waits_for_iterations = false;  // of the graph: the program waits for each iteration before the next one
  bool begins_iteration = false, ends_iteration = false, ends_loop = false;
  std::bitset<kMostConstructs> ancestors;  // constructs that it is ordered behind
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
