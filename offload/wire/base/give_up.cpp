// SPDX-License-Identifier: Apache-2.0
//
// See the header.
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
  abort();  // a user whose `fail` returns
}

}  // namespace marline::offload::wire
