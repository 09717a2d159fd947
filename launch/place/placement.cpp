// SPDX-License-Identifier: Apache-2.0
//
// Three cases: no launcher; a launcher that binds its ranks, or a batch system; a launcher that leaves all CPUs of the
// node to all ranks, which divide them.
#include "place/placement.hpp"

#include <algorithm>
#include <climits>

#include "base/text.hpp"

namespace marline::launch {
namespace {

// Lists of CPUs: a user who writes one has decided where every thread goes.
constexpr const char* kExplicit[] = {"GOMP_CPU_AFFINITY", "KMP_AFFINITY"};

Cpus cpus_of(const Cores& cores) {
  Cpus all;
  for (const Core& core : cores) all.insert(core.cpus.begin(), core.cpus.end());
  return all;
}

bool is_placed_by_user(const Environment& environment) {
  if (environment.get("OMP_PLACES").find('{') != std::string::npos) return true;
  return std::any_of(std::begin(kExplicit), std::end(kExplicit),
                     [&](const char* name) { return !environment.get(name).empty(); });
}

// Binds each worker to a place of its own, unless the user has set the binding, or there is only one worker.
std::vector<Variable> bound_threads(const Situation& at, int threads, const char* level) {
  if (threads == 1 || !at.environment.get("OMP_PROC_BIND").empty() || !at.environment.get("OMP_PLACES").empty()) {
    return {};
  }
  return {{"OMP_PLACES", level}, {"OMP_PROC_BIND", "spread"}};
}

std::vector<Variable> bound_cores(const Situation& at, int threads, const Cores& mine) {
  std::vector<Variable> variables = bound_threads(at, threads, "cores");
  // The runtime would start a worker on each hardware thread.
  if (!at.threads && cpus_of(mine).size() > mine.size()) {
    variables.emplace_back("OMP_NUM_THREADS", std::to_string(mine.size()));
  }
  return variables;
}

Cores part(const Cores& cores, size_t begin, size_t end) {
  begin = std::min(begin, cores.size());
  return Cores(cores.begin() + static_cast<ptrdiff_t>(begin),
               cores.begin() + static_cast<ptrdiff_t>(std::clamp(end, begin, cores.size())));
}

// All ranks of the node may use all of `cores`.
Placement divide(const Situation& at, const Cores& cores) {
  const size_t ranks = static_cast<size_t>(at.ranks), rank = static_cast<size_t>(at.rank);
  const int threads = at.threads.value_or(std::max(1, static_cast<int>(cores.size() / ranks)));
  const int64_t workers = int64_t{at.ranks} * threads;
  if (workers <= static_cast<int64_t>(cores.size())) {
    const Cores mine = pack(cores, at.ranks, threads)[rank];
    return {cpus_of(mine), bound_cores(at, threads, mine), ""};
  }
  const std::string note = at.rank == 0 ? crowd(workers, cores.size()) : "";
  Cores halves;
  for (const Core& core : cores) {
    for (int cpu : core.cpus) halves.push_back({{cpu}, core.domain});
  }
  if (workers <= static_cast<int64_t>(halves.size())) {
    const Cores mine = pack(halves, at.ranks, threads)[rank];
    return {cpus_of(mine), bound_threads(at, threads, "threads"),
            note.empty() ? note : note + ", each on a hardware thread of its own"};
  }
  if (ranks > cores.size()) return {std::nullopt, {}, note};
  // Threads share cores, but threads of different ranks do not.
  return {cpus_of(part(cores, rank * cores.size() / ranks, (rank + 1) * cores.size() / ranks)), {}, note};
}

// The launcher has bound this rank, or must not be overruled.
Placement keep(const Situation& at) {
  const Cores mine = usable(at.cores, at.own);
  const int wanted = at.threads.value_or(static_cast<int>(mine.size()));
  const bool is_first = at.rank == 0;
  if (at.own == at.shared) {  // a batch system that does not bind: another job may use these cores, too
    const bool is_told = at.threads.has_value() && is_first;
    return {std::nullopt, {}, is_told ? crowd(int64_t{wanted} * at.ranks, mine.size()) : ""};
  }
  if (wanted <= static_cast<int>(mine.size())) return {std::nullopt, bound_cores(at, wanted, mine), ""};
  const Cores everywhere = usable(at.cores, at.shared);
  if (!at.is_batch && int64_t{at.ranks} * wanted <= static_cast<int64_t>(everywhere.size())) {
    Placement placement = divide(at, everywhere);
    placement.note = "the launcher binds each rank to " + counted(mine.size(), "core") + ", too few for " +
                     std::to_string(wanted) + " threads: its ranks are bound to " + std::to_string(wanted) +
                     " cores each instead (--no-bind leaves them)";
    if (!is_first) placement.note.clear();
    return placement;
  }
  if (!is_first) return {};
  return {std::nullopt,
          {},
          "on each rank " + crowd(wanted, mine.size()) + ", to which the launcher binds it; ask it for " +
              counted(static_cast<size_t>(wanted), "core") + " for each rank"};
}

}  // namespace

std::string crowd(int64_t workers, size_t cores) {
  if (workers <= static_cast<int64_t>(cores) || cores == 0) return "";
  return std::to_string(workers) + " workers share " + counted(cores, "core");
}

std::optional<int> threads_in(const Environment& environment) {
  int64_t product = 1;
  for (const std::string& word : split(environment.get("OMP_NUM_THREADS"), ',')) {
    const auto number = decimal(trimmed(word));
    if (!number || *number == 0) return std::nullopt;
    product = std::min<int64_t>(product * *number, INT_MAX);
  }
  return static_cast<int>(product);
}

Cores usable(const Cores& cores, const Cpus& cpus) {
  Cores left;
  for (const Core& core : cores) {
    Core some{{}, core.domain};
    std::copy_if(core.cpus.begin(), core.cpus.end(), std::back_inserter(some.cpus),
                 [&](int cpu) { return cpus.contains(cpu); });
    if (!some.cpus.empty()) left.push_back(some);
  }
  return left;
}

std::vector<Cores> pack(const Cores& cores, int ranks, int threads) {
  const size_t width = static_cast<size_t>(threads);
  std::vector<Cores> inside, across;
  for (size_t begin = 0; begin < cores.size();) {
    size_t end = begin;
    while (end < cores.size() && cores[end].domain == cores[begin].domain) ++end;
    for (size_t at = begin; at + width <= end; at += width) inside.push_back(part(cores, at, at + width));
    begin = end;
  }
  if (inside.size() >= static_cast<size_t>(ranks)) {
    inside.resize(static_cast<size_t>(ranks));
    return inside;
  }
  for (size_t rank = 0; rank < static_cast<size_t>(ranks); ++rank) {
    across.push_back(part(cores, rank * width, (rank + 1) * width));
  }
  return across;
}

Placement decide(const Situation& at) {
  if (is_placed_by_user(at.environment)) return {};
  if (at.ranks == 0) return {std::nullopt, {}, crowd(at.threads.value_or(0), usable(at.cores, at.own).size())};
  return at.is_batch || at.own != at.shared ? keep(at) : divide(at, usable(at.cores, at.own));
}

}  // namespace marline::launch
