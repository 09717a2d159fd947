// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "kernel/numa.hpp"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

namespace marline::trace {
namespace {

// The number of a node in `name`, which is "node" and digits; -1 if it is not.
int node_named(const char* name) {
  if (strncmp(name, "node", 4) != 0 || !isdigit(static_cast<unsigned char>(name[4]))) return -1;
  char* end;
  const long number = strtol(name + 4, &end, 10);
  return *end == '\0' && number < kMostNodes ? static_cast<int>(number) : -1;
}

// If `word` begins with `key`, the number after it is stored in `value`.
bool accept(const char* word, const char* key, uint64_t& value) {
  const size_t length = strlen(key);
  if (strncmp(word, key, length) != 0) return false;
  value = strtoull(word + length, nullptr, 10);
  return true;
}

// A line of the file is a mapping: ADDRESS POLICY WORD..., where a word N1=20 stands for 20 pages on node 1, each of
// kernelpagesize_kB, which comes last.
class Mapping {
 public:
  void read(const char* word) {
    uint64_t value;
    if (word[0] == 'N' && isdigit(static_cast<unsigned char>(word[1]))) {
      char* end;
      const unsigned long node = strtoul(word + 1, &end, 10);
      if (*end == '=' && node < kMostNodes) pages_[node] += strtoull(end + 1, nullptr, 10);
    } else if (accept(word, "kernelpagesize_kB=", value)) {
      page_bytes_ = value << 10;
    } else if (accept(word, "anon=", value)) {
      has_own_ = value > 0;
    } else if (strncmp(word, "file=", 5) == 0) {
      is_file_ = true;
    }
  }
  void add_to(uint64_t (&bytes)[kMostNodes]) const {
    if (is_file_ && !has_own_) return;
    for (int node = 0; node < kMostNodes; ++node) bytes[node] += pages_[node] * page_bytes_;
  }

 private:
  uint64_t pages_[kMostNodes] = {};
  uint64_t page_bytes_ = 4096;
  bool is_file_ = false;
  bool has_own_ = false;
};

// Collects characters to words, and words to mappings. The end of a long word, as a path is, is dropped.
class Parser {
 public:
  explicit Parser(uint64_t (&bytes)[kMostNodes]) : bytes_(bytes) {}
  void take(char c) {
    if (c != ' ' && c != '\n') {
      if (length_ + 1 < sizeof word_) word_[length_++] = c;
      return;
    }
    word_[length_] = '\0';
    mapping_.read(word_);
    length_ = 0;
    if (c != '\n') return;
    mapping_.add_to(bytes_);
    mapping_ = Mapping();
  }

 private:
  uint64_t (&bytes_)[kMostNodes];
  Mapping mapping_;
  char word_[48];
  size_t length_ = 0;
};

}  // namespace

int memory_nodes() {
  DIR* folder = opendir("/sys/devices/system/node");
  if (folder == nullptr) return 1;
  int found = 0;
  while (const dirent* entry = readdir(folder)) found += node_named(entry->d_name) >= 0;
  closedir(folder);
  return found == 0 ? 1 : found;
}

int node_of_cpu(int cpu) {
  char path[64];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d", cpu);
  DIR* folder = opendir(path);
  if (folder == nullptr) return -1;
  int node = -1;
  while (const dirent* entry = readdir(folder)) {
    if (node < 0) node = node_named(entry->d_name);
  }
  closedir(folder);
  return node;
}

void add_pages(int file, uint64_t (&bytes)[kMostNodes]) {
  char text[1024];
  Parser parser(bytes);
  for (;;) {
    const ssize_t length = read(file, text, sizeof text);
    if (length == 0 || (length < 0 && errno != EINTR)) return;
    for (ssize_t i = 0; i < length; ++i) parser.take(text[i]);
  }
}

}  // namespace marline::trace
