// SPDX-License-Identifier: Apache-2.0
//
// The breakpoints of a debugger. The comment in each body keeps the compiler from making one function of all, and from
// leaving out the calls.
#include "tool/debugger.hpp"

extern "C" {

const char** ompd_dll_locations = nullptr;

[[gnu::noinline]] void ompd_dll_locations_valid() { asm volatile("# locations valid"); }
[[gnu::noinline]] void ompd_bp_thread_begin() { asm volatile("# thread begin"); }
[[gnu::noinline]] void ompd_bp_thread_end() { asm volatile("# thread end"); }
[[gnu::noinline]] void ompd_bp_parallel_begin() { asm volatile("# parallel begin"); }
[[gnu::noinline]] void ompd_bp_parallel_end() { asm volatile("# parallel end"); }
[[gnu::noinline]] void ompd_bp_teams_begin() { asm volatile("# teams begin"); }
[[gnu::noinline]] void ompd_bp_teams_end() { asm volatile("# teams end"); }
[[gnu::noinline]] void ompd_bp_task_begin() { asm volatile("# task begin"); }
[[gnu::noinline]] void ompd_bp_task_end() { asm volatile("# task end"); }

}  // extern "C"
