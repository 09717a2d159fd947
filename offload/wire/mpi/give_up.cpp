// SPDX-License-Identifier: Apache-2.0
//
// Formats the line and calls WireUser::fail.
#include "wire/mpi/give_up.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace marline::offload::wire {

void give_up(const WireUser* user, const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  user->fail(line);
  std::abort();
}

void give_up_after(const Wire* wire, int result, const char* call, int peer) {
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  mpi.error_string(result, text, &length);
  if (peer < 0) give_up(&wire->user, "%s of process %d failed: %s", call, wire->number, text);
  give_up(&wire->user, "%s between the processes %d and %d failed: %s", call, wire->number, peer, text);
}

void* take_memory(const WireUser* user, size_t bytes) {
  void* memory = std::calloc(1, bytes);
  if (memory == nullptr) give_up(user, "no memory for %zu bytes of the wire mpi", bytes);
  return memory;
}

}  // namespace marline::offload::wire
