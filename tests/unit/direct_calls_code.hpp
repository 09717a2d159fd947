// SPDX-License-Identifier: Apache-2.0
//
// Functions that call getppid, and some that do not; and functions that combine two values, some of which need more
// than these values.
#pragma once

namespace marline::offload::image {

struct Calls {
  int (*by_call)();
  int (*by_jump)();
  int (*behind_another)();
  int (*another_name)();
  int (*none)();
};

extern const Calls g_by_stubs, g_by_slots;

struct Combining {
  using Function = void (*)(void* into, void* from);
  Function adds, adds_many, calls_another, uses_constants;
  Function reads_variable, writes_static, reads_threads, calls_reader, jumps_to_reader, takes_readers_address,
      calls_library;
};

extern const Combining g_alone_by_stubs, g_alone_by_slots;

}  // namespace marline::offload::image
