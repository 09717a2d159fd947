// SPDX-License-Identifier: Apache-2.0
//
// How runtimes would scale on clusters that do not exist here: Marline's own core and models of other runtimes, on a
// made-up machine of nodes with ports and processors for messages. docs/design/cluster-placement.md says what is
// modelled.
//
//     cluster-scaling --runtime NAME --pattern NAME --nodes N [OPTION VALUE]...
#include "model.hpp"

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace {

using namespace cluster;

struct Options {
  std::string runtime = "marline";
  long columns = 2;  // per core
  double ccr = 0;    // time to compute over the time to send a task's output; 0: --bytes
  Costs costs;
  Workload work;
};

[[noreturn]] void refuse(const std::string& text) {
  std::fprintf(stderr, "cluster-scaling: %s\n", text.c_str());
  std::exit(2);
}

void set_pattern(Graph& graph, const std::string& name) {
  for (int k = 0; k < kPatterns; ++k) {
    if (name == kPatternNames[k]) {
      graph.pattern = static_cast<Pattern>(k);
      return;
    }
  }
  refuse("--pattern " + name + " is none of those of bench/taskbench");
}

bool set_cost(Costs& costs, const std::string& name, double value) {
  const std::pair<const char*, double*> all[] = {
      {"--message", &costs.message},           {"--latency", &costs.latency},
      {"--bandwidth", &costs.bandwidth},       {"--head-task", &costs.head_task},
      {"--head-input", &costs.head_input},     {"--head-again", &costs.head_again},
      {"--compare", &costs.compare},           {"--run-task", &costs.task},
      {"--insert-local", &costs.insert_local}, {"--insert-remote", &costs.insert_remote}};
  for (auto [known, cost] : all) {
    if (name != known) continue;
    *cost = value;
    return true;
  }
  return false;
}

bool set_work(Workload& work, const std::string& name, double value) {
  const std::pair<const char*, size_t*> counts[] = {{"--nodes", &work.nodes}, {"--cores", &work.cores}};
  const std::pair<const char*, long*> numbers[] = {
      {"--steps", &work.graph.steps}, {"--buffers", &work.buffers}, {"--iterations", &work.iterations}};
  const std::pair<const char*, uint64_t*> words[] = {
      {"--bytes", &work.bytes}, {"--window", &work.window}, {"--seed", &work.graph.seed}};
  const std::pair<const char*, double*> times[] = {{"--task-us", &work.task}, {"--imbalance", &work.imbalance}};
  bool is_known = name == "--withdraw";
  if (is_known) work.withdraw = value != 0;
  auto take = [&](const auto& table) {
    for (auto [known, place] : table) {
      if (name != known) continue;
      *place = static_cast<std::remove_reference_t<decltype(*place)>>(value);
      is_known = true;
    }
  };
  take(counts);
  take(numbers);
  take(words);
  take(times);
  return is_known;
}

void set(Options& options, const std::string& name, const char* text) {
  if (name == "--runtime") {
    options.runtime = text;
    return;
  }
  if (name == "--pattern") {
    set_pattern(options.work.graph, text);
    return;
  }
  char* end;
  double value = std::strtod(text, &end);
  if (end == text || *end != 0 || value < 0) refuse(name + " " + text + " is no number from 0 on");
  if (name == "--columns") {
    options.columns = static_cast<long>(value);
  } else if (name == "--ccr") {
    options.ccr = value;
  } else if (!set_work(options.work, name, value) && !set_cost(options.costs, name, value)) {
    refuse("there is no option " + name);
  }
}

Options read(int count, char** arguments) {
  Options options;
  options.work.graph = {.pattern = kStencil, .width = 0, .steps = 20, .radix = 3, .fraction = 1, .seed = 1};
  for (int i = 1; i + 1 < count; i += 2) set(options, arguments[i], arguments[i + 1]);
  if (count % 2 == 0) refuse(std::string(arguments[count - 1]) + " has no value");
  Workload& work = options.work;
  if (work.nodes < 1 || work.cores < 1 || options.columns < 1 || work.buffers < 2 || work.iterations < 1) {
    refuse("--nodes, --cores, --columns and --iterations must be at least 1, and --buffers 2");
  }
  bool is_others = options.runtime == "starpu" || options.runtime.rfind("mpi", 0) == 0;
  if (work.iterations > 1 && !is_others) refuse("--iterations is for starpu, mpi and mpi_blocking");
  work.graph.width = static_cast<long>(work.nodes * work.cores) * options.columns;
  if (const char* wrong = graph_check(&work.graph)) refuse(wrong);
  if (options.ccr > 0) work.bytes = static_cast<uint64_t>(work.task * options.costs.bandwidth / options.ccr);
  return options;
}

Outcome run_one(const Options& options) {
  const std::string& name = options.runtime;
  if (name == "marline") return run_marline(options.work, options.costs, false);
  if (name == "marline_replayed") return run_marline(options.work, options.costs, true);
  if (name == "ompc") return run_ompc(options.work, options.costs);
  if (name == "starpu") return run_starpu(options.work, options.costs);
  if (name == "mpi") return run_mpi(options.work, options.costs, false);
  if (name == "mpi_blocking") return run_mpi(options.work, options.costs, true);
  refuse("--runtime " + name + " is none of marline, marline_replayed, ompc, starpu, mpi, mpi_blocking");
}

// With several iterations, the result for one is the time that each iteration adds, because the first one begins alone
// and the last one ends alone.
Outcome run(const Options& options) {
  Outcome all = run_one(options);
  if (options.work.iterations == 1) return all;
  Options alone = options;
  alone.work.iterations = 1;
  Outcome one = run_one(alone);
  auto further = static_cast<double>(options.work.iterations - 1);
  all.time = (all.time - one.time) / further;
  all.head = (all.head - one.head) / further;
  all.messages = (all.messages - one.messages) / static_cast<uint64_t>(options.work.iterations - 1);
  all.bytes = (all.bytes - one.bytes) / static_cast<uint64_t>(options.work.iterations - 1);
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  Options options = read(count, arguments);
  const Workload& work = options.work;
  Outcome outcome = run(options);
  if (outcome.time < 0) refuse("not all tasks have run, or the graph has not been replayed");
  auto tasks = static_cast<double>(work.tasks());
  double cores = static_cast<double>(work.nodes * work.cores);
  std::printf("time %.6g ms\n", outcome.time / 1000);
  std::printf("time_with_start %.6g ms\n", (outcome.time + outcome.start) / 1000);
  std::printf("efficiency %.4g %%\n", 100 * work.work() / cores / outcome.time);
  std::printf("rate %.6g tasks/s\n", tasks / outcome.time * 1e6);
  std::printf("head_busy %.4g %%\n", 100 * outcome.head / outcome.time);
  std::printf("messages %.4g /task\n", static_cast<double>(outcome.messages) / tasks);
  std::printf("moved %.6g B/task\n", static_cast<double>(outcome.bytes) / tasks);
  return 0;
}
