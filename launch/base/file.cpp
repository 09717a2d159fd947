// SPDX-License-Identifier: Apache-2.0
//
// Files are opened with O_CLOEXEC, so a program that is started gets none of them.
#include "base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report.hpp"

namespace marline::launch {
namespace {

std::optional<struct stat> status_of(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool is_program(const std::string& path) { return access(path.c_str(), X_OK) == 0 && !is_folder(path); }

}  // namespace

void File::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Mapping::Mapping(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (file.descriptor() < 0 || fstat(file.descriptor(), &status) != 0) throw Refusal{path + ": " + reason(errno)};
  const size_t size = static_cast<size_t>(status.st_size);
  if (size == 0) return;
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) throw Refusal{path + ": " + reason(errno)};
  bytes_ = {static_cast<const char*>(memory), size};
}

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

std::optional<std::string> read_rest(int descriptor) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t count = read(descriptor, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) return text;
    text.append(part, static_cast<size_t>(count));
  }
}

std::optional<std::string> read_file(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.descriptor() < 0) return std::nullopt;
  return read_rest(file.descriptor());
}

bool is_file(const std::string& path) {
  const auto status = status_of(path);
  return status && S_ISREG(status->st_mode);
}

bool is_folder(const std::string& path) {
  const auto status = status_of(path);
  return status && S_ISDIR(status->st_mode);
}

bool exists(const std::string& path) { return status_of(path).has_value(); }

std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string absolute(const std::string& path) {
  std::string whole = path;
  if (!path.starts_with('/')) {
    char* here = getcwd(nullptr, 0);
    if (here == nullptr) throw Refusal{"the current folder: " + reason(errno)};
    whole = std::string(here) + "/" + path;
    free(here);
  }
  Words parts;
  for (const std::string& part : split(whole, '/')) {
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  return "/" + join(parts, "/");
}

std::optional<std::string> find_in_path(const std::string& command, const std::string& path) {
  if (command.find('/') != std::string::npos) {
    return is_program(command) ? std::optional(command) : std::nullopt;
  }
  if (path.empty()) return std::nullopt;
  for (const std::string& folder : split(path, ':')) {
    const std::string file = folder.empty() ? command : folder + "/" + command;
    if (is_program(file)) return file;
  }
  return std::nullopt;
}

Words names_in(const std::string& folder) {
  Words names;
  DIR* open_folder = opendir(folder.c_str());
  if (open_folder == nullptr) return names;
  while (const dirent* entry = readdir(open_folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(open_folder);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace marline::launch
