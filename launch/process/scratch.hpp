// SPDX-License-Identifier: Apache-2.0
//
// A folder that is there while a program runs. A small process, the remover, deletes it when this process ends, even if
// this process is killed.
#ifndef MARLINE_LAUNCH_PROCESS_SCRATCH_HPP
#define MARLINE_LAUNCH_PROCESS_SCRATCH_HPP

#include <string>

namespace marline::launch {

constexpr const char* kRemoverName = "marline-remover";  // the process's name, of at most 15 bytes

class Scratch {
 public:
  // Makes the folder, with a random name, in the folder for temporary files. Refusal if it cannot.
  Scratch();
  // Takes over a folder that its caller has made.
  explicit Scratch(const std::string& folder);
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }
  // The remover deletes the folder when no process has this descriptor any more: at the latest when the last one ends.
  int descriptor() const { return end_; }
  // From now on the destructor leaves the folder to the remover.
  void leave_to_remover();

 private:
  std::string path_;
  int end_ = -1;
  bool is_left_ = false;
};

}  // namespace marline::launch

#endif
