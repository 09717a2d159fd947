// SPDX-License-Identifier: Apache-2.0
//
// `marline facts ...`: questions that the Python half of the command asks this one. Each line of an answer is a key, a
// tab and a value.
#ifndef MARLINE_LAUNCH_START_FACTS_HPP
#define MARLINE_LAUNCH_START_FACTS_HPP

#include "base/text.hpp"

namespace marline::launch {

//   facts libraries PROGRAM          what its loader finds: `loaded NAME PATH`, `missing NAME`
//   facts launcher MPI               `path`, `version`
//   facts ranks MPI RANKS [THREADS]  the words before those of a program, one a line
//   facts devices                    the words that --devices knows, one a line, and `most`
//   facts workers LIST               of --devices: `workers`, and the list without their number, `devices`
//   facts rank                       this process's rank; an empty line: no launcher of MPI has started it
//   facts cores                      how many this process may use
// Returns the wait status of exit(0); a refusal if there is no answer.
int answer(const Words& question);

}  // namespace marline::launch

#endif
