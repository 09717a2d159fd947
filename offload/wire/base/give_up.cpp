// SPDX-License-Identifier: Apache-2.0
//
// Formats the line and calls WireUser::fail.
#include "wire/base/give_up.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace marline::offload::wire {

void give_up(const WireUser& user, const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  user.fail(line);
  abort();  // reached only if `fail` returns, which it must not
}

}  // namespace marline::offload::wire
