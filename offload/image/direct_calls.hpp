// SPDX-License-Identifier: Apache-2.0
//
// Finds in the machine code of a compiled function of the program what it calls and uses. Any thread; no state.
#pragma once

namespace marline::offload::image {

// Whether the code of the function that begins at `function` has a call or a jump, directly or by the global offset
// table, to a function of another module with a name that begins with `prefix`. Also false if this cannot be
// determined: the module has no .eh_frame_hdr, which says how long the function is, or no function begins there.
// `provider`: an address in the code of a module; functions that the loader has found in another module do not count.
// The loader may look for a function only at its first call: until then the function counts. Takes as long as reading
// the function and the module's list of imported functions. x86-64 and AArch64.
[[nodiscard]] bool calls_directly(const void* function, const char* prefix, const void* provider = nullptr);

// Whether the function that begins at `function` uses nothing but its arguments and constants, and the same is true for
// the functions of its module that it calls: so it does the same in any process that has the module. False if this
// cannot be determined: it calls other modules, or too many functions, or some bytes of its code could be read as the
// address of a variable. x86-64 and AArch64.
[[nodiscard]] bool stands_alone(const void* function);

}  // namespace marline::offload::image
