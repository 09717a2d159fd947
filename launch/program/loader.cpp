// SPDX-License-Identifier: Apache-2.0
//
// Lines of the loader: "NAME => PATH (0xADDRESS)", "NAME => not found", "PROGRAM: PATH: version `VERSION' not found
// (required by PROGRAM)", and others.
#include "program/loader.hpp"

#include "base/answer.hpp"
#include "base/report.hpp"

namespace marline::launch {
namespace {

constexpr int kSeconds = 30;

// The text between the first two places of `first` and `last` in the line; "" if one of them is not there.
std::string between(std::string_view line, std::string_view first, std::string_view last) {
  const size_t begin = line.find(first), from = begin + first.size();
  const size_t to = begin == line.npos ? line.npos : line.find(last, from);
  return to == line.npos ? "" : std::string(line.substr(from, to - from));
}

std::optional<TooOld> read_complaint(std::string_view line) {
  const TooOld found = {between(line, ": ", ": version `"), between(line, ": version `", "' not found"),
                        between(line, "(required by ", ")")};
  if (found.file.empty() || found.version.empty() || found.needed_by.empty()) return std::nullopt;
  return found;
}

}  // namespace

Listing read_listing(const std::string& text) {
  Listing listing;
  for (const std::string& line : split(text, '\n')) {
    const std::string_view whole = trimmed(line);
    const size_t arrow = whole.find(" => ");
    if (arrow == std::string_view::npos) {
      if (!listing.too_old) listing.too_old = read_complaint(whole);
      continue;
    }
    const std::string name(whole.substr(0, arrow));
    std::string_view file = whole.substr(arrow + 4);
    if (file == "not found") listing.missing.push_back(name);
    const size_t address = file.rfind(" (0x");
    if (!file.starts_with('/') || address == std::string_view::npos) continue;
    listing.loaded.emplace_back(name, file.substr(0, address));
  }
  return listing;
}

Listing ask_loader(const std::string& interpreter, const std::string& executable, Environment environment) {
  environment.set("LD_TRACE_LOADED_OBJECTS", "1");
  const auto answer = answer_of({interpreter, executable}, environment, kSeconds, true);
  if (!answer) {
    throw Refusal{interpreter + ", the loader of " + executable + ", does not answer (" + std::to_string(kSeconds) +
                  " s); start it by hand to see why"};
  }
  return read_listing(*answer);
}

}  // namespace marline::launch
