// SPDX-License-Identifier: Apache-2.0
//
// Parses MARLINE_CLUSTER_WRITES and encodes it for the workers.
#include "device/cluster/protocol/writes.hpp"

#include "base/options.hpp"

#include <strings.h>

#include <cstring>

namespace marline::offload::device {

namespace {

constexpr uint64_t kByPages = 1, kChecks = 2;

// Returns false if the word is not a valid value.
bool take_word(const char* word, size_t length, ClusterWrites& to) {
  auto is = [&](const char* name) { return std::strlen(name) == length && strncasecmp(word, name, length) == 0; };
  if (is("map")) to.may_write = MayWrite::kMapped;
  if (is("depend")) to.may_write = MayWrite::kNamed;
  if (is("check")) to.checks = true;
  if (is("pages")) to.by_pages = true;
  return is("diff") || is("map") || is("depend") || is("check") || is("pages");
}

}  // namespace

// The value is one word, or two of which one is `pages`.
ClusterWrites chosen_writes() {
  ClusterWrites writes;
  const char* text = option_value(Option::kClusterWrites);
  if (text == nullptr) return writes;
  size_t first = std::strcspn(text, ",");
  const char* second = text[first] == ',' ? text + first + 1 : nullptr;
  bool is_good = take_word(text, first, writes);
  if (second != nullptr) {
    bool had_pages = writes.by_pages;
    is_good =
        is_good && take_word(second, std::strlen(second), writes) && had_pages != (strcasecmp(second, "pages") == 0);
  }
  if (!is_good) refuse_value(Option::kClusterWrites, text);
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

}  // namespace marline::offload::device
