// SPDX-License-Identifier: Apache-2.0
//
// The program asks the kernel for its own file. Without /proc it takes the name by which it was started.
#include "base/layout.hpp"

#include <climits>
#include <cstdlib>
#include <unistd.h>

#include "base/file.hpp"
#include "base/report.hpp"

namespace marline::launch {

Layout::Layout(const std::string& prefix) : prefix_(prefix) {}

Layout Layout::of_this_program(const char* started_as) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length > 0) {
    path[length] = '\0';
  } else {
    const char* folders = getenv("PATH");
    const auto found = find_in_path(started_as, folders == nullptr ? "" : folders);
    if (!found || realpath(found->c_str(), path) == nullptr) {
      throw Refusal{std::string(started_as) + ": its folder cannot be found; start it by its path"};
    }
  }
  const std::string file = path;
  const std::string folder = file.substr(0, file.rfind('/'));
  return Layout(folder.substr(0, folder.rfind('/')));
}

std::string Layout::python() const {
  const std::string own = parts() + "/marline-python";
  return exists(own) ? own : prefix_ + "/bin/marline-python";
}

std::string Layout::runtime() const {
  const std::string library = prefix_ + "/lib/libmarline.so";
  return exists(library) ? library : library + ".0";
}

std::string Layout::mpi(const std::string& implementation) const {
  return parts() + "/" + implementation + "/libmarline-mpi.so";
}

std::string Layout::accesses_of_mpi(const std::string& implementation) const {
  return parts() + "/" + implementation + "/libmarline-accesses-mpi.so";
}

std::string Layout::trace(const std::string& implementation) const {
  return parts() + (implementation.empty() ? "" : "/" + implementation) + "/libmarline-trace.so";
}

std::string Layout::require(const std::string& library, const std::string& remedy) {
  if (!is_file(library)) throw Refusal{library + " is missing; " + remedy};
  return library;
}

}  // namespace marline::launch
