// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's variables for one device (OpenMP 6.0, section 4.3): OMP_X_DEV_2, OMP_X_DEV and OMP_X_ALL. Stateless: the
// answer is the environment's own text. Any thread that may call getenv.
#pragma once

namespace marline {

inline constexpr int kHostVariables = -1;

// What the environment says about `name`, such as OMP_NUM_THREADS, for the device; null: nothing, or the variable is
// about all of the program, so that the standard has no such forms of it.
const char* device_variable(const char* name, int device);

}  // namespace marline
