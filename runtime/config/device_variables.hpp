// SPDX-License-Identifier: Apache-2.0
//
// OpenMP's variables for one device (OpenMP 6.0, section 4.3): OMP_X_DEV_2, OMP_X_DEV and OMP_X_ALL. Stateless: the
// answer is the environment's own text. Any thread that may call getenv.
#pragma once

namespace marline {

inline constexpr int kHostVariables = -1;

// The environment's value of `name`, such as OMP_NUM_THREADS, for the device. Null: it has none, or the variable holds
// for the whole program; OpenMP gives such a variable no forms for devices.
const char* device_variable(const char* name, int device);

}  // namespace marline
