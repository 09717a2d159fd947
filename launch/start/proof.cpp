// SPDX-License-Identifier: Apache-2.0
//
// A record is one line: its kind, a tab, its text.
#include "start/proof.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

#include "base/report.hpp"
#include "process/child.hpp"

namespace marline::launch {
namespace {

// The program may never have started: the loader or child.cpp has said why, or somebody stopped it.
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

}  // namespace

std::optional<std::string> judge(const Words& records, int wait_status, const std::string& program,
                                 const std::string& runtime) {
  Words loaded;
  for (const std::string& record : records) {
    const size_t tab = record.find('\t');
    const std::string kind = record.substr(0, tab);
    if (kind == "refused") return "";
    if (kind == "loaded" && tab != record.npos) loaded.push_back(record.substr(tab + 1));
  }
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

}  // namespace marline::launch
