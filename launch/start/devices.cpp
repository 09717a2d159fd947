// SPDX-License-Identifier: Apache-2.0
//
// Libmarline-target refuses wrong words, too (offload/registry/device_list.cpp), but it is not in a program without
// target regions.
#include "start/devices.hpp"

#include <algorithm>
#include <strings.h>

#include "base/report.hpp"

namespace marline::launch {
namespace {

const std::string kNodes = "nodes";
const std::string kCluster = "cluster";
const Words kClustersOfKinds = {"cluster:gpu", "cluster:all"};  // of members
// The other words: some take a number, some stand in a list, some stand alone.
const Words kCounted = {"host", "process"};
const Words kSingle = {"libomptarget"};
const Words kAlone = {"auto", "none"};

bool names_nodes(const std::string& word) {
  return word == kNodes || word == kCluster || contains(kClustersOfKinds, word);
}

Words words_in(const std::string& devices, const Environment& environment) {
  return split(devices.empty() ? environment.get("MARLINE_DEVICES") : devices, ',');
}

struct Word {
  std::string name;
  bool has_colon;
  std::optional<int> number;
};

Word read(const std::string& word) {
  const size_t colon = word.find(':');
  if (colon == word.npos) return {word, false, std::nullopt};
  return {word.substr(0, colon), true, decimal(std::string_view(word).substr(colon + 1))};
}

std::string needs_number(const std::string& devices, const std::string& word, int most) {
  return "--devices " + devices + ": " + quoted(word) + " needs a number from 1 to " + std::to_string(most) +
         " behind the colon";
}

// The forms of the words of a list. `of_nodes`: those for nodes, which the callers want with or without numbers.
Words forms_of_list(const Words& of_nodes) {
  Words forms;
  for (const std::string& name : kCounted) append(forms, {name, name + ":N"});
  append(forms, of_nodes);
  append(forms, kClustersOfKinds);
  append(forms, kSingle);
  return forms;
}

void refuse_unknown(const std::string& devices, const std::string& word) {
  const Word read_word = read(word);
  const bool is_counted = contains(kCounted, read_word.name);
  const int number = read_word.number.value_or(0);
  if (is_counted && read_word.has_colon && (number < 1 || number > kMostDevices)) {
    throw Refusal{needs_number(devices, word, kMostDevices), kUsage};
  }
  if (is_counted || contains(kSingle, word) || contains(kAlone, devices)) return;
  const Words forms = forms_of_list({kNodes, kNodes + ":K", kCluster, kCluster + ":K"});
  throw Refusal{"--devices \"" + devices + "\" is not usable: expected " + join(kAlone, ", ") + ", or a list of " +
                    join(forms, ", ") + "; no device is named " + quoted(word),
                kUsage};
}

void refuse_names(int count, const std::string& nodes_as) {
  const int names = static_cast<int>(std::count(nodes_as.begin(), nodes_as.end(), ',')) + 1;
  if (nodes_as.empty() || names == count) return;
  throw Refusal{"--nodes-as " + nodes_as + " names " + std::to_string(names) + " nodes, but the job has " +
                std::to_string(count) + " processes: name the node of each"};
}

}  // namespace

bool wants_nodes(const std::string& devices, const Environment& environment) {
  const Words words = words_in(devices, environment);
  return std::any_of(words.begin(), words.end(), names_nodes);
}

bool wants_cluster(const std::string& devices, const Environment& environment) {
  const Words words = words_in(devices, environment);
  return std::any_of(words.begin(), words.end(),
                     [](const std::string& word) { return word != kNodes && names_nodes(word); });
}

OwnWorkers own_workers(const std::string& devices) {
  OwnWorkers own;
  if (devices.empty()) return own;
  Words words;
  for (std::string word : split(devices, ',')) {
    const Word parts = read(word);
    const bool is_of_nodes = parts.name == kNodes || parts.name == kCluster;
    if (is_of_nodes && parts.has_colon && !contains(kClustersOfKinds, word)) {
      const int number = parts.number.value_or(0);
      if (number < 1 || number > kMostWorkers) throw Refusal{needs_number(devices, word, kMostWorkers)};
      own.count += number;
      word = parts.name;
    } else if (!names_nodes(word)) {
      refuse_unknown(devices, word);
    }
    if (is_of_nodes && std::any_of(words.begin(), words.end(), names_nodes)) {
      throw Refusal{"--devices " + devices +
                    " names nodes twice; each worker is one device, and `cluster` has all of "
                    "them"};
    }
    words.push_back(word);
  }
  own.devices = join(words, ",");
  return own;
}

std::string named_nodes(const std::string& names, int count) {
  if (names != "apart") return names;
  Words numbers;
  for (int number = 0; number < count; ++number) numbers.push_back(std::to_string(number));
  return join(numbers, ",");
}

void refuse_unfit_job(int count, const std::string& nodes_as) {
  if (count > kMostWorkers + 1) {
    throw Refusal{"-n " + std::to_string(count) + ": a program can have " + std::to_string(kMostWorkers) +
                  " workers, so a job has at most " + std::to_string(kMostWorkers + 1) + " processes"};
  }
  refuse_names(count, nodes_as);
}

void refuse_unfit_ranks(int count, const std::string& nodes_as) {
  if (count > kMostWorkers) {
    throw Refusal{"-n " + std::to_string(count) + ": ranks that are each other's devices are at most " +
                  std::to_string(kMostWorkers)};
  }
  refuse_names(count, nodes_as);
}

void refuse_wire(const std::string& wire) {
  if (strcasecmp(wire.c_str(), "mpi") != 0) return;
  throw Refusal{
      "MARLINE_WIRE=mpi: these processes are no job of MPI's; leave it out, or start them by `-n N --mpi "
      "openmpi` or `-n N --mpi mpich`"};
}

Words known_devices() {
  Words forms = kAlone;
  append(forms, forms_of_list({kNodes, kCluster}));
  return forms;
}

}  // namespace marline::launch
