// SPDX-License-Identifier: Apache-2.0
//
// Texts: words of lists, numbers, quotes. File names and arguments may hold any bytes.
#ifndef MARLINE_LAUNCH_BASE_TEXT_HPP
#define MARLINE_LAUNCH_BASE_TEXT_HPP

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace marline::launch {

using Words = std::vector<std::string>;

// The parts between the separators: one more than there are separators.
Words split(std::string_view text, char separator);
// What is left without blanks, tabs and newlines between words.
Words words_of(std::string_view text);
std::string join(const Words& words, std::string_view separator);
std::string_view trimmed(std::string_view text);

// The value if all characters are decimal digits. A value that no int has counts as the largest int.
std::optional<int> decimal(std::string_view text);

// The word as a shell takes it.
std::string shell_quoted(const std::string& word);
std::string shell_quoted(const Words& words);
// In apostrophes, for messages that name a part of what the user has typed.
std::string quoted(const std::string& text);

// "1 core", "2 cores".
std::string counted(size_t count, const std::string& what);

bool contains(const Words& words, std::string_view word);
void append(Words& words, const Words& more);
// As execve(2) takes them, with a null pointer at the end; valid until the words change.
std::vector<char*> pointers_to(const Words& words);

}  // namespace marline::launch

#endif
