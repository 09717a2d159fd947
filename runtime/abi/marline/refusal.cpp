// SPDX-License-Identifier: Apache-2.0
//
// marline_describe_refusal of include/marline/devices.h. Any thread.
#include "marline/devices.h"

#include "platform/refusal.hpp"

#include <cstdio>

extern "C" [[gnu::visibility("default")]] const char* marline_describe_refusal(int error, size_t stack_bytes,
                                                                               char* text, size_t bytes) {
  const marline::Refusal why(error, stack_bytes);
  std::snprintf(text, bytes, "%s%s%s", why.cause(), *why.help() != '\0' ? ": " : "", why.help());
  return text;
}
