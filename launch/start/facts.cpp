// SPDX-License-Identifier: Apache-2.0
//
// Users do not type these words: they may change with each version.
#include "start/facts.hpp"

#include <cerrno>
#include <unistd.h>

#include "base/report.hpp"
#include "place/node.hpp"
#include "program/preflight.hpp"
#include "start/devices.hpp"
#include "start/launcher.hpp"
#include "start/mpi.hpp"

namespace marline::launch {
namespace {

Words libraries_of(const std::string& program) {
  const Listing listing = list_libraries(program, Environment::of_process());
  Words lines;
  for (const auto& [name, path] : listing.loaded) lines.push_back("loaded\t" + name + "\t" + path);
  for (const std::string& name : listing.missing) lines.push_back("missing\t" + name);
  return lines;
}

Words about_launcher(const std::string& mpi) {
  const Environment environment = Environment::of_process();
  const std::string path = require_launcher(mpi, environment);
  Words lines = {"path\t" + path};
  const auto version = version_of_launcher(path, mpi, environment);
  if (version) lines.push_back("version\t" + *version);
  return lines;
}

Words words_before_ranks(const Words& question) {
  const int ranks = decimal(question[2]).value_or(0);
  const auto threads = question.size() > 3 ? decimal(question[3]) : std::nullopt;
  if (ranks < 1) throw Refusal{question[2] + " is no number of ranks", kUsage};
  return bound_ranks(question[1], ranks, threads, Environment::of_process());
}

Words about_devices() {
  Words lines = known_devices();
  lines.push_back("most\t" + std::to_string(kMostDevices));
  return lines;
}

Words about_workers(const std::string& devices) {
  const OwnWorkers own = own_workers(devices);
  return {"workers\t" + std::to_string(own.count), "devices\t" + own.devices};
}

Words lines_for(const Words& question) {
  const std::string about = question.empty() ? "" : question[0];
  if (about == "libraries" && question.size() == 2) return libraries_of(question[1]);
  if (about == "launcher" && question.size() == 2) return about_launcher(question[1]);
  if (about == "ranks" && question.size() >= 3) return words_before_ranks(question);
  if (about == "devices") return about_devices();
  if (about == "workers" && question.size() == 2) return about_workers(question[1]);
  if (about == "rank") return {rank_in(Environment::of_process()).value_or("")};
  if (about == "cores") return {std::to_string(core_count())};
  throw Refusal{"facts " + join(question, " ") + ": no such question", kUsage};
}

}  // namespace

int answer(const Words& question) {
  std::string text;
  for (const std::string& line : lines_for(question)) text += line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw Refusal{"standard output: " + reason(errno)};
  }
  return 0;
}

}  // namespace marline::launch
