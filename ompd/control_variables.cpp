// SPDX-License-Identifier: Apache-2.0
//
// The environment variables as the runtime has understood them (OpenMP 5.2, section 20.5.8). The result is one block of
// the debugger's memory: the array of pointers, then the text that they point into.
#include "space.hpp"

#include <cstring>

namespace marline::ompd {

namespace {

constexpr size_t kLongest = 16384;  // the runtime's text is no longer

size_t count_lines(const char* text) {
  size_t lines = 0;
  while ((text = std::strchr(text, '\n')) != nullptr) ++lines, ++text;
  return lines;
}

// Cuts the text into its lines.
void split(char* text, const char** lines) {
  for (char* end = nullptr; (end = std::strchr(text, '\n')) != nullptr; text = end + 1) {
    *end = '\0';
    *lines++ = text;
  }
  *lines = nullptr;
}

Rc hand_out_lines(const char* text, const char* const** result) {
  const size_t pointers = (count_lines(text) + 1) * sizeof(char*);
  const size_t bytes = std::strlen(text) + 1;
  auto* block = static_cast<char*>(allocate(pointers + bytes));
  if (block == nullptr) return Rc::kNoMemory;
  std::memcpy(block + pointers, text, bytes);
  auto** lines = reinterpret_cast<const char**>(block);
  split(block + pointers, lines);
  *result = lines;
  return Rc::kOk;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

Rc ompd_get_display_control_vars(const Space* space, const char* const** variables) {
  if (space == nullptr) return Rc::kStaleHandle;
  if (variables == nullptr) return Rc::kBadInput;
  auto* text = static_cast<char*>(allocate(kLongest));
  if (text == nullptr) return Rc::kNoMemory;
  Reader in(*space);
  in.text(space->layout.variables, text, kLongest);
  Rc rc = in.rc();
  if (rc == Rc::kOk) rc = hand_out_lines(text, variables);
  const Rc freed = release(text);
  return rc == Rc::kOk ? freed : rc;
}

Rc ompd_rel_display_control_vars(const char* const** variables) {
  if (variables == nullptr || *variables == nullptr) return Rc::kBadInput;
  return release(const_cast<const char**>(*variables));
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::ompd
