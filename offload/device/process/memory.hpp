// SPDX-License-Identifier: Apache-2.0
//
// What a device's process has of the program's memory, and should not: it is a fork, so its own allocations would come
// to lie where the program's do, and a kernel that uses an address of the program's would find something there. So the
// program's heap and stack, and the addresses where its next mappings come to lie, are made unreadable. What was
// allocated before the fork stays: the device's process uses some of it.
#pragma once

#include <cstdint>

namespace marline::offload::device {

// In the program, before the fork: its heap goes on in a page of its own.
void part_heap();
// In the program, behind it.
void end_parting_heap();

// In the device's process, before it has other threads.
void give_up_memory();
// The same for the program's stack, which the calling thread may be on: it goes on in `function`, on another one.
[[noreturn]] void give_up_stack(void (*function)());

// In the device's process, any thread: whether the page at the address is reserved for the program's next mappings, so
// that nothing is lost when another mapping replaces it.
[[nodiscard]] bool is_given_up(uint64_t address);

}  // namespace marline::offload::device
