// SPDX-License-Identifier: Apache-2.0
//
// Makes addresses of the program unreadable in a device's process. That process is a fork of the program, so its own
// allocations would get the same addresses as the program's later ones, and a kernel that uses an address of the
// program by mistake would find something there. So the addresses where the program's heap goes on, its stack, and the
// addresses of its next mappings are made unreadable. What was allocated before the fork stays: the device's process
// uses some of it.
#pragma once

#include <cstdint>

namespace marline::offload::device {

// Called in the program before the fork: fills the heap up to the last bytes of a page.
void part_heap();
// Called in the program after the fork: takes these bytes, so that the heap goes on in pages of its own.
void end_parting_heap();

// Called in the device's process before it has other threads.
void give_up_memory();
// The same for the program's stack. The calling thread may be on it, so it goes on in `function` on another stack.
[[noreturn]] void give_up_stack(void (*function)());

// Called in the device's process by any thread. Whether the page at the address is reserved for the program's next
// mappings: then nothing is lost when another mapping replaces it.
[[nodiscard]] bool is_given_up(uint64_t address);

}  // namespace marline::offload::device
