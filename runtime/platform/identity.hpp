// SPDX-License-Identifier: Apache-2.0
//
// Checks whether this library is the OpenMP runtime of its process. Calls can silently go to another runtime: because
// of an RPATH, because a package brings its own runtime, or because a runtime is linked into the program. `marline run`
// requires proof: it sets MARLINE_PROOF to a file name. Then a check runs when the library is loaded; if it fails, the
// process ends before its first instruction (one line on stderr, exit status 125). A second check runs when the process
// exits, for libraries that were loaded later; a failure is reported. Each result is a line in the file, appended in
// one write:
//   loaded <TAB> path of libmarline
//   uses <TAB> path of the executable: an object of the process calls OpenMP functions, or the process has entered this
//     library for the first time
//   refused <TAB> reason
// Without MARLINE_PROOF, the only cost is reading this variable.
//
// Limits: objects in another dlmopen(3) namespace, and objects that are closed before the exit, are not checked.
#pragma once

namespace marline {

// The process uses OpenMP: writes this into the proof, once. Any thread.
void record_use();

}  // namespace marline
