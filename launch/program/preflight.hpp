// SPDX-License-Identifier: Apache-2.0
//
// What can be known of a program before it starts: whether Marline's libraries can reach it at all, and which MPI it is
// linked with. What only the running process can tell (where its calls are really bound) is proved inside it, by
// runtime/platform/identity.cpp.
#ifndef MARLINE_LAUNCH_PROGRAM_PREFLIGHT_HPP
#define MARLINE_LAUNCH_PROGRAM_PREFLIGHT_HPP

#include <string>
#include <utility>
#include <vector>

#include "base/environment.hpp"
#include "program/elf.hpp"
#include "program/loader.hpp"

namespace marline::launch {

struct Program {
  std::string path;
  bool is_script = false;
  bool uses_openmp = false;
  bool uses_devices = false;
  std::string mpi;  // "": none
  Listing libraries;
  // If the program itself uses no OpenMP: the programs among its arguments that do (`env -i ./app`). It may start them.
  std::vector<Elf> started;

  // The file of a library by the beginning of its name; "": it is not loaded.
  std::string file_of(const std::string& prefix) const;
};

// Follows `command` to its executable, and refuses where Marline cannot get into the process. `environment` is the one
// that the program will see.
Program examine(const std::string& command, const Words& arguments, Environment environment);

// What the loader of `command` finds for it. Refuses only what is not a program.
Listing list_libraries(const std::string& command, Environment environment);

// The file that execvp(3) would start. Refusal if there is none.
std::string find_program(const std::string& command, const Environment& environment);

}  // namespace marline::launch

#endif
