// SPDX-License-Identifier: Apache-2.0
//
// See the header.
#include "device/cluster/cluster_writes.hpp"

#include "base/options.hpp"

#include <strings.h>

#include <cstring>

namespace marline::target {

namespace {

constexpr uint64_t kByPages = 1, kChecks = 2;

bool take_word(const char* word, size_t length, ClusterWrites& to) {
  auto is = [&](const char* name) { return std::strlen(name) == length && strncasecmp(word, name, length) == 0; };
  if (is("pages")) {
    to.by_pages = true;
  } else if (is("map")) {
    to.may_write = MayWrite::kMapped;
  } else if (is("depend")) {
    to.may_write = MayWrite::kNamed;
  } else if (is("check")) {
    to.checks = true;
  } else {
    return is("diff");
  }
  return true;
}

}  // namespace

// One of diff, map, depend and check, and pages.
ClusterWrites chosen_writes() {
  ClusterWrites writes;
  const char* text = option_value(Option::kClusterWrites);
  if (text == nullptr) return writes;
  int others = 0;
  for (const char* word = text;; ++word) {
    size_t length = std::strcspn(word, ",");
    bool had_pages = writes.by_pages;
    if (!take_word(word, length, writes) || (had_pages && others == 0 && word[length] == ',')) {
      refuse_value(Option::kClusterWrites, text);
    }
    others += writes.by_pages == had_pages;
    word += length;
    if (*word == '\0') break;
  }
  if (others > 1) refuse_value(Option::kClusterWrites, text);
  return writes;
}

uint64_t word_of(const ClusterWrites& writes) {
  return (writes.by_pages ? kByPages : 0) | (writes.checks ? kChecks : 0);
}

ClusterFinding finding_of(uint64_t word) {
  ClusterFinding finding;
  finding.compares = true;
  finding.by_pages = (word & kByPages) != 0;
  finding.checks = (word & kChecks) != 0;
  return finding;
}

}  // namespace marline::target
