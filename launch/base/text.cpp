// SPDX-License-Identifier: Apache-2.0
//
// Only ASCII has a meaning here, whatever the locale.
#include "base/text.hpp"

#include <algorithm>
#include <climits>
#include <cstdio>

namespace marline::launch {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\v\f";

bool is_safe_in_shell(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
         std::string_view("@%+=:,./-_").find(letter) != std::string_view::npos;
}

}  // namespace

Words split(std::string_view text, char separator) {
  Words words;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    words.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return words;
    begin = end + 1;
  }
}

Words words_of(std::string_view text) {
  Words words;
  size_t begin = text.find_first_not_of(kBlanks);
  while (begin != std::string_view::npos) {
    const size_t end = text.find_first_of(kBlanks, begin);
    words.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    begin = text.find_first_not_of(kBlanks, end);
  }
  return words;
}

std::string join(const Words& words, std::string_view separator) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i != 0) text += separator;
    text += words[i];
  }
  return text;
}

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::optional<int> decimal(std::string_view text) {
  if (text.empty()) return std::nullopt;
  long value = 0;
  for (char letter : text) {
    if (letter < '0' || letter > '9') return std::nullopt;
    value = std::min<long>(value * 10 + (letter - '0'), INT_MAX);
  }
  return static_cast<int>(value);
}

std::string shell_quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_safe_in_shell)) return word;
  std::string text = "'";
  for (char letter : word) text += letter == '\'' ? std::string("'\"'\"'") : std::string(1, letter);
  return text + "'";
}

std::string shell_quoted(const Words& words) {
  Words each;
  for (const std::string& word : words) each.push_back(shell_quoted(word));
  return join(each, " ");
}

std::string quoted(const std::string& text) { return "'" + text + "'"; }

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

bool contains(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

std::vector<char*> pointers_to(const Words& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

}  // namespace marline::launch
