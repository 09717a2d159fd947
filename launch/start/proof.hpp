// SPDX-License-Identifier: Apache-2.0
//
// The proof that Marline was the runtime: what the process has written (runtime/platform/identity.cpp), judged after
// its end.
#ifndef MARLINE_LAUNCH_START_PROOF_HPP
#define MARLINE_LAUNCH_START_PROOF_HPP

#include <optional>
#include <string>

#include "base/text.hpp"

namespace marline::launch {

// Nothing if the records prove that Marline was the runtime; else why not ("" where the process said so itself).
// `runtime`: the file that it had to be.
std::optional<std::string> judge(const Words& records, int wait_status, const std::string& program,
                                 const std::string& runtime);

}  // namespace marline::launch

#endif
