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

// A library that is older than the program: it lacks a symbol version that `needed_by` asks for.
struct TooOld {
  std::string file;
  std::string version;
  std::string needed_by;
};
// What the loader finds for a program. With a name in `missing`, or with `too_old`, the program cannot start.
struct Listing {
  std::vector<std::pair<std::string, std::string>> loaded;  // the name of each library, and its file
  Words missing;                                            // names without a file
  std::optional<TooOld> too_old;
};

Listing ask_loader(const std::string& interpreter, const std::string& executable, Environment environment);

// The loader's answer, read.
Listing read_listing(const std::string& text);

}  // namespace marline::launch

#endif
