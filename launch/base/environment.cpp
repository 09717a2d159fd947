// SPDX-License-Identifier: Apache-2.0
//
// An entry without "=" is no variable. It is passed on unchanged.
#include "base/environment.hpp"

#include <algorithm>
#include <unistd.h>

namespace marline::launch {
namespace {

bool is_named(const std::string& entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.compare(0, name.size(), name) == 0;
}

}  // namespace

Environment Environment::of(const std::vector<Variable>& variables) {
  Environment all;
  all.set(variables);
  return all;
}

Environment Environment::of_process() {
  Environment all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) all.entries_.emplace_back(*entry);
  return all;
}

const std::string* Environment::find(std::string_view name) const {
  for (const std::string& entry : entries_) {
    if (is_named(entry, name)) return &entry;
  }
  return nullptr;
}

std::string Environment::get(std::string_view name) const {
  const std::string* entry = find(name);
  return entry == nullptr ? "" : entry->substr(name.size() + 1);
}

void Environment::set(const std::string& name, const std::string& value) {
  const auto here = std::find_if(entries_.begin(), entries_.end(), [&](auto& entry) { return is_named(entry, name); });
  const std::string entry = name + "=" + value;
  if (here == entries_.end()) {
    entries_.push_back(entry);
  } else {
    *here = entry;
  }
}

void Environment::set(const std::vector<Variable>& variables) {
  for (const auto& [name, value] : variables) set(name, value);
}

void Environment::drop_if(const std::function<bool(const std::string& name)>& is_dropped) {
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(),
                                [&](auto& entry) { return is_dropped(entry.substr(0, entry.find('='))); }),
                 entries_.end());
}

Words Environment::names_with(const Words& prefixes) const {
  Words names;
  for (const std::string& entry : entries_) {
    const std::string name = entry.substr(0, entry.find('='));
    if (std::any_of(prefixes.begin(), prefixes.end(), [&](auto& prefix) { return name.starts_with(prefix); })) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<char*> Environment::pointers() { return pointers_to(entries_); }

}  // namespace marline::launch
