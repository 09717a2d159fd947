// SPDX-License-Identifier: Apache-2.0
//
// Texts in the debugger's memory, which the debugger frees.
#pragma once

#include "space.hpp"

#include <cstring>

namespace marline::ompd {

inline Rc hand_out_text(const char* text, const char** result) {
  const size_t bytes = std::strlen(text) + 1;
  auto* copy = static_cast<char*>(allocate(bytes));
  if (copy == nullptr) return Rc::kNoMemory;
  std::memcpy(copy, text, bytes);
  *result = copy;
  return Rc::kOk;
}

}  // namespace marline::ompd
