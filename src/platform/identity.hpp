// SPDX-License-Identifier: Apache-2.0
//
// Is this library the OpenMP runtime of the process it is in? An RPATH, a second runtime that a package brought along,
// or one linked into the program can take calls away from it unnoticed. `marline run` wants proof: it sets
// MARLINE_PROOF to a file name, and a check runs when the library is loaded, where a failure ends the process before
// its first instruction (one line on stderr, exit status 125), and another when the process exits, for what was loaded
// since, where a failure is reported. Each outcome is a line in that file, appended in one write:
//   loaded <TAB> path of libmarline      refused <TAB> reason
// Without MARLINE_PROOF, one look at the environment is all that happens.
//
// Limits: objects in another dlmopen(3) namespace, and those closed again before the exit, are not seen.
#pragma once

#include <cstddef>

namespace marline {

enum class AuditTime {
  kStart,  // calls not yet made are judged by where they would go: right while nothing has been dlopened
  kExit,   // only calls that were made count
};

// Whether each OpenMP entry point that an object of this process calls is bound to this library. If not, `reason` says
// which object, which runtime it uses instead, and what to do. Takes the dynamic linker's lock.
[[nodiscard]] bool is_only_runtime(AuditTime time, char* reason, size_t reason_bytes);

}  // namespace marline
