// SPDX-License-Identifier: Apache-2.0
//
// Makes and maps the words that processes share for the link model.
#include "wire/model/link_busy.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace marline::offload::wire {

namespace {

constexpr char kName[] = "marline-links";
constexpr char kTarget[] = "/memfd:marline-links";

// Opens the memfd of another process. Returns -1 if there is none.
int find_file(int pid) {
  char folder[64], path[sizeof folder + sizeof dirent::d_name], target[64];
  snprintf(folder, sizeof folder, "/proc/%d/fd", pid);
  DIR* files = opendir(folder);
  int found = -1;
  for (dirent* entry; files != nullptr && found < 0 && (entry = readdir(files)) != nullptr;) {
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    ssize_t length = readlink(path, target, sizeof target);
    bool is_it =
        length >= static_cast<ssize_t>(sizeof kTarget - 1) && std::memcmp(target, kTarget, sizeof kTarget - 1) == 0;
    if (is_it) found = open(path, O_RDWR | O_CLOEXEC);
  }
  if (files != nullptr) closedir(files);
  return found;
}

}  // namespace

LinkBusy::Words* LinkBusy::map(int file) {
  void* memory = mmap(nullptr, sizeof(Words), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return memory != MAP_FAILED ? static_cast<Words*>(memory) : nullptr;
}

LinkBusy::Words* LinkBusy::map_file_of(int pid) {
  int file = pid != 0 ? find_file(pid) : -1;
  if (file < 0) return nullptr;
  Words* theirs = map(file);
  ::close(file);
  return theirs;
}

bool LinkBusy::make() {
  file_ = memfd_create(kName, MFD_CLOEXEC);
  if (file_ < 0 || ftruncate(file_, sizeof(Words)) != 0) return false;
  links_ = map(file_);
  cards_ = map(file_);
  return links_ != nullptr && cards_ != nullptr;
}

void LinkBusy::share(int first, int zero) {
  if (Words* theirs = map_file_of(first)) {
    munmap(links_, sizeof(Words));
    links_ = theirs;
  }
  if (Words* theirs = map_file_of(zero)) {
    munmap(cards_, sizeof(Words));
    cards_ = theirs;
  }
}

void LinkBusy::close() {
  for (Words* words : {links_, cards_}) {
    if (words != nullptr) munmap(words, sizeof(Words));
  }
  if (file_ >= 0) ::close(file_);
  links_ = cards_ = nullptr;
  file_ = -1;
}

}  // namespace marline::offload::wire
