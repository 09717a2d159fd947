// SPDX-License-Identifier: Apache-2.0
//
// What a compiled function of the program calls and uses, found in its code. Any thread; no state.
#pragma once

namespace marline::offload::image {

// Whether the code of the function that begins at `function` has a call or a jump, straight or by the global offset
// table, to a function of another module whose name begins with `prefix`. False as well where that cannot be told: the
// module has no .eh_frame_hdr, which says how long the function is, or the function does not begin there. `provider`:
// an address in the code of a module; functions that the loader has found in another module do not count. The loader
// may look for a function only at its first call: until then it counts. Takes as long as it takes to read the function
// and the module's list of imported functions. x86-64 and AArch64.
[[nodiscard]] bool calls_directly(const void* function, const char* prefix, const void* provider = nullptr);

// Whether the function that begins at `function` uses nothing but its arguments and constants, nor do functions of its
// module that it calls: so it does the same in any process that has the module. False where that cannot be told: it
// calls other modules, or too many functions, or some bytes of its code could be read as the address of a variable.
// x86-64 and AArch64.
[[nodiscard]] bool stands_alone(const void* function);

}  // namespace marline::offload::image
