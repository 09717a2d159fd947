// SPDX-License-Identifier: Apache-2.0
//
// Chooses a rank's GPU from its number and its CPUs. Within a NUMA domain, GPUs are chosen by slot and not by rank, as
// some launchers put neighbouring ranks into one domain and others into different domains.
#include "base/share.hpp"

#include "../common/launchers.h"

#include <cstdlib>
#include <cstring>

namespace marline::offload {

namespace {

// Reads the number at the beginning of the text; *after is the rest of the text. -1: no number, or it is too large.
int number_in(const char* text, const char** after) {
  char* end;
  const long value = std::strtol(text, &end, 10);
  *after = end;
  return end == text || value < 0 || value > 1 << 20 ? -1 : static_cast<int>(value);
}

// The number of tasks on one node in Slurm's list, where "4(x2),3" means 4, 4 and 3 tasks; -1: the list does not have
// this node.
int tasks_of_node(const char* text, int node) {
  while (*text != '\0') {
    const int tasks = number_in(text, &text);
    int times = 1;
    if (std::strncmp(text, "(x", 2) == 0) {
      times = number_in(text + 2, &text);
      if (*text++ != ')') return -1;
    }
    if (tasks < 0 || times < 1) return -1;
    if (node < times) return tasks;
    node -= times;
    if (*text == ',') ++text;
  }
  return -1;
}

int ranks_in(const char* name, const char* value, const char* (*lookup)(const char* name)) {
  const char* after;
  if (std::strncmp(name, "SLURM", 5) != 0) return number_in(value, &after);
  const char* node = lookup("SLURM_NODEID");
  return tasks_of_node(value, node != nullptr ? number_in(node, &after) : 0);
}

}  // namespace

RankPlace rank_from(const char* (*lookup)(const char* name)) {
  RankPlace place;
  for (const auto& [rank_name, ranks_name] : launcher_local_ranks) {
    const char *rank_text = lookup(rank_name), *ranks_text = lookup(ranks_name);
    if (rank_text == nullptr || ranks_text == nullptr) continue;
    const char* after;
    const int rank = number_in(rank_text, &after), ranks = ranks_in(ranks_name, ranks_text, lookup);
    if (rank < 0 || rank >= ranks) continue;
    place.rank = rank;
    place.ranks = ranks;
    break;
  }
  return place;
}

int slot_in(const int* cpus, int count, const int* of_domain, int domain_count) {
  int first = -1, run = 0, at = 0;
  for (int i = 0; i < domain_count && at < count; ++i) {
    if (of_domain[i] != cpus[at]) continue;
    if (first < 0) first = i;
    // Counts the process's CPUs up to the first gap: other hardware threads of the same cores may have numbers far
    // away.
    if (run == at && i == first + at) ++run;
    ++at;
  }
  return count > 0 && at == count ? first / run : -1;
}

int share_of(const RankPlace& place, const DeviceFacts* devices, int count) {
  int all[64], near[64], all_count = 0, near_count = 0;
  for (int i = 0; i < count && i < 64; ++i) {
    if (!devices[i].is_gpu) continue;
    all[all_count++] = i;
    if (place.domain >= 0 && devices[i].numa_domain == place.domain) near[near_count++] = i;
  }
  if (place.ranks < 2 || all_count < 2) return -1;
  // If all GPUs are in the rank's domain, all are equally near, so the rank chooses and not the slot.
  if (near_count > 0 && near_count < all_count) return near[place.slot % near_count];
  return all[place.rank % all_count];
}

}  // namespace marline::offload
