// SPDX-License-Identifier: Apache-2.0
//
// Environment: a copy of the caller's variables, which becomes the program's. The launcher never changes its own.
#ifndef MARLINE_LAUNCH_BASE_ENVIRONMENT_HPP
#define MARLINE_LAUNCH_BASE_ENVIRONMENT_HPP

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"

namespace marline::launch {

using Variable = std::pair<std::string, std::string>;

class Environment {
 public:
  static Environment of(const std::vector<Variable>& variables);
  static Environment of_process();

  bool has(std::string_view name) const { return find(name) != nullptr; }
  // "" if it is not set.
  std::string get(std::string_view name) const;
  // The folders in which programs are looked for.
  std::string search_path() const { return has("PATH") ? get("PATH") : "/bin:/usr/bin"; }
  void set(const std::string& name, const std::string& value);
  void set(const std::vector<Variable>& variables);
  void drop_if(const std::function<bool(const std::string& name)>& is_dropped);
  Words names_with(const Words& prefixes) const;  // in the alphabet's order

  // For execve(2); valid until the environment changes.
  std::vector<char*> pointers();
  const Words& entries() const { return entries_; }

 private:
  const std::string* find(std::string_view name) const;

  Words entries_;  // NAME=VALUE
};

}  // namespace marline::launch

#endif
