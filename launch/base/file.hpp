// SPDX-License-Identifier: Apache-2.0
//
// Files and paths.
#ifndef MARLINE_LAUNCH_BASE_FILE_HPP
#define MARLINE_LAUNCH_BASE_FILE_HPP

#include <optional>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace marline::launch {

// A descriptor that is closed at the end of its scope.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }
  int descriptor() const { return descriptor_; }
  void close();

 private:
  int descriptor_;
};

// A file's bytes in memory. Refusal if it cannot be opened; empty files have no bytes.
class Mapping {
 public:
  explicit Mapping(const std::string& path);
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

// The content of a file in /proc or /sys, which has no size before it is read. Nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path);
std::optional<std::string> read_rest(int descriptor);

bool is_file(const std::string& path);
bool is_folder(const std::string& path);
bool exists(const std::string& path);

// The last part of a path.
std::string file_name(const std::string& path);
// Absolute, without "." and "..", as text: links are not followed.
std::string absolute(const std::string& path);
// The file that execvp(3) would take for `command`; nothing if there is none. `path`: the folders, as in PATH.
std::optional<std::string> find_in_path(const std::string& command, const std::string& path);
// The names in a folder, in the alphabet's order.
Words names_in(const std::string& folder);

}  // namespace marline::launch

#endif
