// SPDX-License-Identifier: Apache-2.0
//
// The proof that Marline was the runtime: what the process has written (runtime/platform/identity.cpp), judged after
// its end.
#ifndef MARLINE_LAUNCH_START_PROOF_HPP
#define MARLINE_LAUNCH_START_PROOF_HPP

#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "program/elf.hpp"

namespace marline::launch {

// Nothing if the records prove that Marline was the runtime; else why not ("" where the process said so itself).
// `runtime`: the file that it had to be.
std::optional<std::string> judge(const Words& records, int wait_status, const std::string& program,
                                 const std::string& runtime);

// The runtime may have been in a command that starts the program (`env -i ./app`), and not in the program itself.
// Returns what to tell the user of that; nothing if OpenMP was used on Marline as expected. `program`: the command.
// `started`: the programs among its words that use OpenMP.
std::optional<std::string> tell_of_unserved(const Words& records, int wait_status, const std::string& program,
                                            const std::vector<Elf>& started);

}  // namespace marline::launch

#endif
