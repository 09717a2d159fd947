// SPDX-License-Identifier: Apache-2.0
//
// Asks a program's own loader which libraries it takes: only the loader knows all its rules. In this mode it runs
// nothing of the program (ld.so(8), LD_TRACE_LOADED_OBJECTS).
#ifndef MARLINE_LAUNCH_PROGRAM_LOADER_HPP
#define MARLINE_LAUNCH_PROGRAM_LOADER_HPP

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"

namespace marline::launch {

// The libraries that the loader takes: each name with its file. `missing`: the names that it does not find. Then the
// start itself fails, with the loader's message. `too_old`: a file that lacks a version of its symbols, if there is
// one.
struct TooOld {
  std::string file;
  std::string version;
  std::string needed_by;
};
struct Listing {
  std::vector<std::pair<std::string, std::string>> loaded;
  Words missing;
  std::optional<TooOld> too_old;
};

Listing ask_loader(const std::string& interpreter, const std::string& executable, Environment environment);

// The loader's answer, read.
Listing read_listing(const std::string& text);

}  // namespace marline::launch

#endif
