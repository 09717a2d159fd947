// SPDX-License-Identifier: Apache-2.0
//
// The control groups of a process, from the text of /proc/PID/cgroup (cgroups(7)). Any thread; reads a file.
#pragma once

#include <cstdio>
#include <cstring>

namespace marline {

// Calls visit(controllers, path) for each line of the file `membership`, which is NUMBER:CONTROLLERS:PATH. In version 2
// the controllers are empty. Does nothing if there is no such file.
template <class Visit>
void for_control_groups(const char* membership, Visit visit) {
  char line[512];  // a longer path is cut
  FILE* file = std::fopen(membership, "re");
  if (file == nullptr) return;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    char* controllers = std::strchr(line, ':');
    char* path = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (path == nullptr) continue;
    *path++ = '\0';
    visit(controllers + 1, path);
  }
  std::fclose(file);
}

}  // namespace marline
