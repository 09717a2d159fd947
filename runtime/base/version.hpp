// SPDX-License-Identifier: Apache-2.0
//
// The runtime's version, equal to the project's in the root CMakeLists.txt (a unit test compares the two), and the
// OpenMP version that the runtime reports, as in `_OPENMP` (202011: OpenMP 5.1).
#pragma once

namespace marline {

inline constexpr char kVersion[] = "0.2.0";
inline constexpr int kOpenmpVersion = 202011;

}  // namespace marline
