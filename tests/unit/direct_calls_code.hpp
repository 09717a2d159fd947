// SPDX-License-Identifier: Apache-2.0
//
// Functions that call getppid, and some that do not.
#pragma once

namespace marline::target {

struct Calls {
  int (*by_call)();
  int (*by_jump)();
  int (*behind_another)();
  int (*another_name)();
  int (*none)();
};

extern const Calls g_by_stubs, g_by_slots;

}  // namespace marline::target
