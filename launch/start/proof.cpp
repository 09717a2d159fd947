// SPDX-License-Identifier: Apache-2.0
//
// A record is one line: its kind, a tab, its text. The kinds:
//   loaded    the file of libmarline in a process
//   uses      the executable of a process that uses OpenMP
//   refused   why a process must not run; the process has said so, too
#include "start/proof.hpp"

#include <algorithm>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/report.hpp"
#include "process/child.hpp"

namespace marline::launch {
namespace {

// Whether this end needs no explanation by us: the program could not be started, and the loader or child.cpp has said
// why, or a signal from outside ended it, perhaps before it had loaded anything.
bool explains_itself(int wait_status) {
  if (!WIFSIGNALED(wait_status)) {
    return WEXITSTATUS(wait_status) == kNotExecutable || WEXITSTATUS(wait_status) == kNotFound;
  }
  const int number = WTERMSIG(wait_status);
  return number == SIGKILL || (number != SIGCHLD && watched_signals().has(number));
}

bool is_same_file(const std::string& one, const std::string& other) {
  struct stat first, second;
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

Words texts_of(const std::string& kind, const Words& records) {
  Words texts;
  for (const std::string& record : records) {
    if (record.starts_with(kind + "\t")) texts.push_back(record.substr(kind.size() + 1));
  }
  return texts;
}

// Whether one of these executables is the program, or the loader, which a user may start by its name.
bool has_run(const Elf& program, const Words& executables) {
  return std::any_of(executables.begin(), executables.end(), [&](const std::string& file) {
    return is_same_file(file, program.path) || is_same_file(file, program.interpreter);
  });
}

}  // namespace

std::optional<std::string> judge(const Words& records, int wait_status, const std::string& program,
                                 const std::string& runtime) {
  if (!texts_of("refused", records).empty()) return "";
  const Words loaded = texts_of("loaded", records);
  if (loaded.empty()) {
    if (explains_itself(wait_status)) return std::nullopt;
    return program + " ended (" + outcome(wait_status) +
           ") without ever loading Marline; does it, or a wrapper of it, clear LD_PRELOAD?";
  }
  for (const std::string& path : loaded) {
    if (is_same_file(path, runtime)) continue;
    return program + " ran on " + path + ", not on " + runtime + "; take the other one out of LD_PRELOAD";
  }
  return std::nullopt;
}

std::optional<std::string> tell_of_unserved(const Words& records, int wait_status, const std::string& program,
                                            const std::vector<Elf>& started) {
  if (!WIFEXITED(wait_status) || explains_itself(wait_status)) return std::nullopt;
  const Words executables = texts_of("uses", records);
  const std::string advice = "put `marline run` directly before ";
  for (const Elf& one : started) {
    if (has_run(one, executables)) continue;
    return one.path + " uses OpenMP, but no process of it has used Marline's: " + program +
           " may clear LD_PRELOAD, or not have started it; " + advice + one.path;
  }
  if (!started.empty() || !executables.empty()) return std::nullopt;
  return "no process of " + program + " has used OpenMP on Marline; build it with -fopenmp, or " + advice +
         "the program that uses OpenMP";
}

}  // namespace marline::launch
