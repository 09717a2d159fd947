// SPDX-License-Identifier: Apache-2.0
//
// Where the parts of an installation lie below its prefix. A build tree looks the same. python/marline/layout.py has
// the parts that the Python half of the command uses.
#ifndef MARLINE_LAUNCH_BASE_LAYOUT_HPP
#define MARLINE_LAUNCH_BASE_LAYOUT_HPP

#include <string>

namespace marline::launch {

class Layout {
 public:
  explicit Layout(const std::string& prefix);
  // The installation that this program lies in: PREFIX/bin/marline. Links to it are followed.
  static Layout of_this_program(const char* started_as);

  const std::string& prefix() const { return prefix_; }
  std::string command() const { return prefix_ + "/bin/marline"; }
  // The half of the command that is written in Python. Wheels have it in bin: installers write the environment's Python
  // into scripts there only.
  std::string python() const;
  // The folder with libomp.so.5, libiomp5.so and libgomp.so.1 that lead to libmarline.so.
  std::string compat() const { return parts() + "/compat"; }
  // libmarline.so, or libmarline.so.0 where the headers are not installed (Debian's package libmarline0).
  std::string runtime() const;
  std::string mpi(const std::string& implementation) const;
  // The recorder; with an implementation of MPI, the one that records its calls too.
  std::string trace(const std::string& implementation) const;
  std::string checker() const { return parts() + "/libmarline-check.so"; }
  std::string accesses() const { return parts() + "/libmarline-accesses.so"; }
  std::string accesses_of_mpi(const std::string& implementation) const;

  // `library`, if it is there; otherwise a refusal with the remedy.
  static std::string require(const std::string& library, const std::string& remedy);

 private:
  std::string parts() const { return prefix_ + "/lib/marline"; }

  std::string prefix_;
};

constexpr const char* kInstallAgain = "this installation is incomplete: install Marline again";

}  // namespace marline::launch

#endif
