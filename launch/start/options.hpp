// SPDX-License-Identifier: Apache-2.0
//
// The words of `marline run`. python/marline/launch/options.py has its help, and reads what is not written in full; it
// starts this program again with the words in full, and with options that no user needs.
#ifndef MARLINE_LAUNCH_START_OPTIONS_HPP
#define MARLINE_LAUNCH_START_OPTIONS_HPP

#include <optional>
#include <string>

#include "base/text.hpp"

namespace marline::launch {

struct Options {
  std::optional<int> ranks;
  std::optional<int> threads;
  std::string mpi;
  bool no_bind = false;
  std::string devices;
  std::string nodes_as;
  std::string trace;  // a folder
  std::string check;  // a folder
  bool print = false;
  std::string program;
  Words arguments;

  // Of the Python half only:
  std::string command = "marline run";  // what the user has typed
  bool is_claimed = false;              // the folder of `trace` is new, and belongs to this run
  bool is_native = false;               // the program keeps its own runtime, and is recorded
  bool removes_check = false;           // the folder of `check` goes with this process
  bool accesses = false;                // `check` records the accesses of tasks
  Words then;                           // the command that goes on when the program has ended
};

// Nothing if these words are not all known: a mistake, `--help`, or an option that is not written in full.
std::optional<Options> parse(const Words& words);

}  // namespace marline::launch

#endif
