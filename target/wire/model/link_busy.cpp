// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "wire/model/link_busy.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace marline::target {

namespace {

constexpr char kName[] = "marline-links";
constexpr char kTarget[] = "/memfd:marline-links";
constexpr size_t kBytes = LinkBusy::kMostPeers * sizeof(std::atomic<uint64_t>);

std::atomic<uint64_t>* map(int file) {
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory != MAP_FAILED ? static_cast<std::atomic<uint64_t>*>(memory) : nullptr;
}

// The file of another process, or -1.
int find_file(int pid) {
  char folder[64], path[sizeof folder + sizeof dirent::d_name], target[64];
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  DIR* files = opendir(folder);
  int found = -1;
  for (dirent* entry; files != nullptr && found < 0 && (entry = readdir(files)) != nullptr;) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    ssize_t length = readlink(path, target, sizeof target);
    bool is_it = length >= static_cast<ssize_t>(sizeof kTarget - 1) && std::memcmp(target, kTarget, sizeof kTarget - 1) == 0;
    if (is_it) found = open(path, O_RDWR | O_CLOEXEC);
  }
  if (files != nullptr) closedir(files);
  return found;
}

}  // namespace

bool LinkBusy::make() {
  file_ = memfd_create(kName, MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, kBytes) != 0) return false;
  words_ = map(file_);
  return words_ != nullptr;
}

void LinkBusy::share(int first) {
  int file = first != 0 ? find_file(first) : -1;
  if (file < 0) return;
  std::atomic<uint64_t>* theirs = map(file);
  ::close(file);
  if (theirs == nullptr) return;
  munmap(words_, kBytes);
  words_ = theirs;
}

void LinkBusy::close() {
  if (words_ != nullptr) munmap(words_, kBytes);
  if (file_ >= 0) ::close(file_);
  words_ = nullptr;
  file_ = -1;
}

}  // namespace marline::target
