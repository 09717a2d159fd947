// SPDX-License-Identifier: Apache-2.0
//
// Linux: /sys for the machine, /proc for the launcher.
#include "place/node.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sched.h>
#include <unistd.h>

#include "../common/launchers.h"
#include "base/file.hpp"
#include "base/text.hpp"

namespace marline::launch {
namespace {

constexpr const char* kBatch[] = {"SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE"};
constexpr const char* kSystem = "/sys/devices/system";
constexpr int kMostCpus = 1 << 16;  // of a machine, as far as we ask the kernel

int number_in(const std::string& path) {
  const auto text = read_file(path);
  return text ? decimal(trimmed(*text)).value_or(-1) : -1;
}

// "0-3,8" as a file of the kernel has it.
Cpus list_in(const std::string& path) {
  Cpus cpus;
  const auto text = read_file(path);
  for (const std::string& word : split(trimmed(text.value_or("")), ',')) {
    const Words ends = split(word, '-');
    const auto first = decimal(ends.front()), last = decimal(ends.back());
    for (int cpu = first.value_or(0); first && last && cpu <= std::min(*last, kMostCpus); ++cpu) cpus.insert(cpu);
  }
  return cpus;
}

std::map<int, int> nodes_of_memory(const std::string& system) {
  std::map<int, int> nodes;
  for (const std::string& name : names_in(system + "/node")) {
    const auto number = name.starts_with("node") ? decimal(name.substr(4)) : std::nullopt;
    if (!number) continue;
    for (int cpu : list_in(system + "/node/" + name + "/cpulist")) nodes[cpu] = *number;
  }
  return nodes;
}

std::string environment_of(int process) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/environ");
  return text ? std::string(1, '\0') + *text : "";
}

int parent_of(int process) {
  const auto text = read_file("/proc/" + std::to_string(process) + "/stat");
  if (!text) return 1;
  // After the name, which may hold anything: state, parent.
  const Words words = words_of(std::string_view(*text).substr(text->rfind(')') + 1));
  return words.size() > 1 ? decimal(words[1]).value_or(1) : 1;
}

// The CPUs that the launcher may use. The launcher is the nearest ancestor process whose environment lacks this rank's
// variable. The environment of another user's process cannot be read, so such a process counts as the launcher.
Cpus launcher_mask(const std::string& variable) {
  const std::string mark = std::string(1, '\0') + variable + "=";
  int process = getppid();
  while (process > 1 && environment_of(process).find(mark) != std::string::npos) process = parent_of(process);
  const auto mask = allowed_cpus(process);
  return mask ? *mask : allowed_cpus(0).value_or(Cpus{});
}

// Without a launcher only the number of cores counts, and only if it is less than the number of threads. So this stops
// as soon as it has found a core for each thread. A core is identified by the list of its hardware threads.
Cores cores_without_launcher(const Cpus& own, std::optional<int> threads) {
  Cores cores;
  if (!threads || *threads <= 1) return cores;
  Cpus seen;
  for (int cpu : own) {
    if (seen.contains(cpu)) continue;
    if (cores.size() == static_cast<size_t>(*threads)) break;
    cores.push_back({{cpu}, {}});
    const std::string folder = std::string(kSystem) + "/cpu/cpu" + std::to_string(cpu);
    seen.merge(list_in(folder + "/topology/thread_siblings_list"));
  }
  return cores;
}

}  // namespace

Situation situation(std::optional<int> threads, const Environment& environment) {
  const LocalRank local = local_rank(environment);
  Situation at;
  at.own = allowed_cpus(0).value_or(Cpus{});
  at.shared = local.ranks > 0 ? launcher_mask(local.variable) : at.own;
  at.rank = local.rank;
  at.ranks = local.ranks;
  at.threads = threads ? threads : threads_in(environment);
  at.is_batch = std::any_of(std::begin(kBatch), std::end(kBatch), [&](auto name) { return environment.has(name); });
  at.environment = environment;
  Cpus cpus = at.own;
  cpus.insert(at.shared.begin(), at.shared.end());
  at.cores = local.ranks > 0 ? read_cores(kSystem, cpus) : cores_without_launcher(at.own, at.threads);
  return at;
}

LocalRank local_rank(const Environment& environment) {
  for (const LauncherLocalRank& launcher : launcher_local_ranks) {
    const auto rank = decimal(environment.get(launcher.rank));
    auto ranks = decimal(environment.get(launcher.ranks));
    if (std::string_view(launcher.ranks).starts_with("SLURM")) {
      const std::string node = environment.has("SLURM_NODEID") ? environment.get("SLURM_NODEID") : "0";
      ranks = tasks_of_node(environment.get(launcher.ranks), node);
    }
    if (rank && ranks && *rank < *ranks) return {launcher.rank, *rank, *ranks};
  }
  // A process that start/job.cpp has started: all of the job are on this machine.
  const auto number = decimal(environment.get(kNumberInJob)), count = decimal(environment.get(kCountInJob));
  if (number && count && *number < *count) return {kNumberInJob, *number, *count};
  return {};
}

std::optional<int> tasks_of_node(const std::string& text, const std::string& node) {
  const auto wanted = decimal(node);
  if (!wanted) return std::nullopt;
  int64_t before = 0;
  for (const std::string& word : split(text, ',')) {
    const size_t times = word.find("(x");
    const auto tasks = decimal(std::string_view(word).substr(0, times));
    int nodes = 1;
    if (times != word.npos) {
      if (!word.ends_with(')')) continue;
      const auto count = decimal(std::string_view(word).substr(times + 2, word.size() - times - 3));
      if (!count) continue;
      nodes = *count;
    }
    if (!tasks) continue;
    if (*wanted < before + nodes) return tasks;
    before += nodes;
  }
  return std::nullopt;
}

Cores read_cores(const std::string& system, const Cpus& cpus) {
  const std::map<int, int> nodes = nodes_of_memory(system);
  std::map<std::array<int, 5>, std::vector<int>> cores;
  for (int cpu : cpus) {
    const std::string folder = system + "/cpu/cpu" + std::to_string(cpu);
    const std::string topology = folder + "/topology/";
    const int package = number_in(topology + "physical_package_id"), die = number_in(topology + "die_id");
    const int core = number_in(topology + "core_id"), cache = number_in(folder + "/cache/index3/id");
    const auto node = nodes.find(cpu);
    cores[{package, node == nodes.end() ? 0 : node->second, cache, die, core >= 0 ? core : cpu}].push_back(cpu);
  }
  Cores all;
  for (const auto& [key, threads] : cores) all.push_back({threads, {key[0], key[1]}});
  return all;
}

std::optional<Cpus> allowed_cpus(int process) {
  for (int count = CPU_SETSIZE; count <= kMostCpus; count *= 2) {  // the kernel wants room for all that it knows
    cpu_set_t* mask = CPU_ALLOC(static_cast<size_t>(count));
    const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(count));
    CPU_ZERO_S(bytes, mask);
    const bool is_known = sched_getaffinity(process, bytes, mask) == 0;
    Cpus cpus;
    for (int cpu = 0; is_known && cpu < count; ++cpu) {
      if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, mask)) cpus.insert(cpu);
    }
    CPU_FREE(mask);
    if (is_known) return cpus;
  }
  return std::nullopt;
}

size_t core_count() {
  std::set<std::pair<int, int>> cores;
  for (int cpu : allowed_cpus(0).value_or(Cpus{})) {
    const std::string topology = std::string(kSystem) + "/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const int package = number_in(topology + "physical_package_id"), core = number_in(topology + "core_id");
    cores.insert(core >= 0 ? std::pair(package, core) : std::pair(-2, cpu));
  }
  return cores.size();
}

bool is_local_size(const std::string& variable) {
  return std::any_of(std::begin(launcher_local_ranks), std::end(launcher_local_ranks),
                     [&](const LauncherLocalRank& launcher) { return variable == launcher.ranks; });
}

}  // namespace marline::launch
