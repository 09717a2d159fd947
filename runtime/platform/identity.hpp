// SPDX-License-Identifier: Apache-2.0
//
// Checks whether this library is the OpenMP runtime of its process. Calls can silently go to another runtime: because
// of an RPATH, because a package brings its own runtime, or because a runtime is linked into the program. `marline run`
// requires proof: it sets MARLINE_PROOF to a file name. Then a check runs when the library is loaded; if it fails, the
// process ends before its first instruction (one line on stderr, exit status 125). A second check runs when the process
// exits, for libraries that were loaded later; a failure is reported. Each result is a line in the file, appended in
// one write:
//   loaded <TAB> path of libmarline
//   refused <TAB> reason
// Without MARLINE_PROOF, the only cost is reading this variable.
//
// Limits: objects in another dlmopen(3) namespace, and objects that are closed before the exit, are not checked.
#pragma once

#include <cstddef>

namespace marline {

enum class AuditTime {
  // Calls that have not been made are judged by their future target: correct while nothing has been dlopened.
  kStart,
  kExit,  // only calls that have been made count
};

// Whether each OpenMP entry point that an object of this process calls is bound to this library. If not, `reason` names
// the object, the runtime that it uses instead, and what to do. Takes the dynamic linker's lock.
[[nodiscard]] bool is_only_runtime(AuditTime time, char* reason, size_t reason_bytes);

}  // namespace marline
