// SPDX-License-Identifier: Apache-2.0
//
// An option's value is the next word, or follows a "=". Options end at the program's name, or at "--".
#include "start/options.hpp"

#include "start/mpi.hpp"

namespace marline::launch {
namespace {

class Parser {
 public:
  explicit Parser(const Words& words) : words_(words) {}
  std::optional<Options> parse();

 private:
  // False: the word is not known, or its value is not valid.
  bool take(const std::string& word);
  bool take_flag(const std::string& name);
  bool take_value(const std::string& name, const std::string& value);

  const Words& words_;
  size_t at_ = 0;
  Options options_;
};

bool set_count(std::optional<int>& count, const std::string& value) {
  count = decimal(value);
  return count && *count > 0;
}

std::optional<Options> Parser::parse() {
  while (at_ < words_.size() && words_[at_].size() > 1 && words_[at_].starts_with('-')) {
    const std::string& word = words_[at_++];
    if (word == "--") break;
    if (!take(word)) return std::nullopt;
  }
  if (at_ == words_.size()) return std::nullopt;
  options_.program = words_[at_];
  options_.arguments.assign(words_.begin() + static_cast<ptrdiff_t>(at_) + 1, words_.end());
  return options_;
}

bool Parser::take(const std::string& word) {
  if (take_flag(word)) return true;
  const size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
  if (equals != word.npos) return take_value(word.substr(0, equals), word.substr(equals + 1));
  if (at_ == words_.size() || words_[at_].starts_with('-')) return false;
  return take_value(word, words_[at_++]);
}

bool Parser::take_flag(const std::string& name) {
  bool* flag = name == "--no-bind"         ? &options_.no_bind
               : name == "--print"         ? &options_.print
               : name == "--claimed"       ? &options_.is_claimed
               : name == "--native"        ? &options_.is_native
               : name == "--removes-check" ? &options_.removes_check
               : name == "--accesses"      ? &options_.accesses
                                           : nullptr;
  if (flag != nullptr) *flag = true;
  return flag != nullptr;
}

bool Parser::take_value(const std::string& name, const std::string& value) {
  if (name == "-n" || name == "-np" || name == "--np") return set_count(options_.ranks, value);
  if (name == "-t" || name == "--threads") return set_count(options_.threads, value);
  if (name == "--then") {
    options_.then.push_back(value);
    return true;
  }
  if (name == "--mpi") {
    options_.mpi = value;
    return is_mpi(value);
  }
  std::string* text = name == "--devices"    ? &options_.devices
                      : name == "--nodes-as" ? &options_.nodes_as
                      : name == "--trace"    ? &options_.trace
                      : name == "--check"    ? &options_.check
                      : name == "--command"  ? &options_.command
                                             : nullptr;
  if (text != nullptr) *text = value;
  return text != nullptr;
}

}  // namespace

std::optional<Options> parse(const Words& words) { return Parser(words).parse(); }

}  // namespace marline::launch
